import { beforeAll, expect, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
beforeAll(async () => {
  dev = await ownWorkspace()
})

// Guarantee: a merchant with one seat sells one, and whoever comes too late is told so on the page.
test('a link for one payment is taken by one of two payers who have it open', async () => {
  const page = await browser.open()
  await logIn(page, dev, dashboardPath('links', dev.workspaceId, 'test'))
  await page.getByRole('button', { name: 'New link' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New payment link' })
  await dialog.getByLabel('Title').fill('Last seat')
  await dialog.getByRole('textbox', { name: /^Amount/ }).fill('25')
  const places = dialog.getByLabel('Number of payments (optional)')
  await places.fill('1.5')
  await dialog.getByText('A whole number from 1 to 1000.').waitFor()
  await places.fill('1')
  await dialog.getByLabel('Ends at (optional)').fill('2099-12-31T23:59')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await page.getByRole('heading', { name: 'Last seat' }).waitFor()
  await page.getByText('Payments at most').waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)

  const [first, second] = [await browser.open(), await browser.open()]
  const pay = 'Continue with 25.00 USD'
  for (const payer of [first, second]) {
    await payer.goto(`${dev.checkoutUrl}/l/${id}`)
    await payer.getByRole('button', { name: pay }).waitFor()
  }
  await first.getByRole('button', { name: pay }).click()
  await first.getByRole('heading', { name: 'Choose a coin' }).waitFor()
  await second.getByRole('button', { name: pay }).click()
  await second.getByRole('heading', { name: 'Every use of this payment link is taken' }).waitFor()
  expect(await axeViolations(second, 'all')).toEqual([])
})
