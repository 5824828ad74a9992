import { expect, test } from 'vitest'
import { axeViolations, rulesOf, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)

test('the customer column leads to everything of this customer, and no address of a page names them', async () => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState })
  await page.goto(`${dev.adminUrl}${dashboardPath('invoices', seed.workspaceId, 'test')}`)
  await settled(page)
  await page.locator(`[data-row-id="${seed.invoices['pending']}"]`).getByRole('link', { name: 'Ana' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ana' }).waitFor()
  await settled(page)
  expect(decodeURIComponent(page.url())).not.toContain('@')
  await page.getByText(seed.customerEmail).first().waitFor()
  const totals = page.getByRole('table', { name: 'totals by currency' })
  expect((await totals.getByRole('row').nth(1).textContent())?.replaceAll(/\s+/g, ' ')).toMatch(/USD.*64\.02 USD in 1/)
  const invoices = page.getByRole('region', { name: 'Invoices' })
  expect(await invoices.locator('[data-row-id]').count()).toBe(1)
  for (const theme of ['light', 'dark'] as const) {
    await showTheme(page, theme)
    expect([theme, await axeViolations(page, rulesOf(theme))]).toEqual([theme, []])
  }
  await invoices.locator('[data-row-link]').click()
  await page.waitForURL((url) => url.pathname.endsWith(`/invoices/${seed.invoices['pending']}`))
  await page.getByRole('link', { name: 'All invoices of this customer' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ana' }).waitFor()
})

test('a customer without an e-mail address is not matched with others', async () => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState })
  const path = dashboardPath(`customers/${seed.invoices['paid']}`, seed.workspaceId, 'test')
  await page.goto(`${dev.adminUrl}${path}`)
  await page.getByText('There is no email address on this invoice.').waitFor()
  expect(await axeViolations(page)).toEqual([])
})
