import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
let session: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>

beforeAll(async () => {
  dev = await ownWorkspace()
  const page = await browser.open()
  await logIn(page, dev)
  // Changed settings ask for a code, unless one was given just now.
  await enrolAuthenticator(page, dev.ownerPassword ?? '')
  session = await page.context().storageState()
})

async function open(path: string, width = 1280): Promise<Page> {
  const page = await browser.open({ session, width, height: 900 })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, dev.workspaceId, 'test')}`)
  await settled(page)
  return page
}

/** What the live region says. */
const said = (page: Page) => page.locator('[role="status"].unseen').textContent()

deepTest(
  'settings are sentences with their numbers in them; a wrong one is said, and saving is announced once',
  async () => {
    const page = await open('settings/payments')
    const sentence = page.locator('.pm-rule-sentence').filter({ hasText: 'Accept late payments automatically' })
    // The numbers stand between its parts.
    expect(await sentence.textContent()).toMatch(
      /^Accept late payments automatically up to\s*minutes after expiry,\s*if the coin fell by at most\s*%\.$/,
    )
    const minutes = sentence.getByRole('textbox').first()
    await minutes.fill('999999')
    await page.getByRole('alert').getByText('Enter a number from 0 to 10080.').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await minutes.fill(' 45 ')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => said(page)).toBe('Saved. Applies to new invoices.')
    await expect.poll(() => minutes.inputValue()).toBe('45')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await sidewaysPixels(page)).toBe(0)
  },
)

test('endpoints are named by their note, then by host and path', async () => {
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const events = ['invoice.paid'] as const
  await shop.webhookEndpoints.create({
    url: 'http://localhost:5390/hooks/a',
    events: [...events],
    description: 'Stock',
  })
  await shop.webhookEndpoints.create({ url: 'http://localhost:5390/hooks/b', events: [...events] })
  const page = await open('webhooks/endpoints')
  const cell = (text: string) => page.locator('[data-row-id] td').filter({ hasText: text }).first()
  await expect.poll(() => cell('hooks/a').textContent()).toMatch(/^Stock\s*localhost:5390\/hooks\/a$/)
  await expect.poll(() => cell('hooks/b').textContent()).toBe('localhost:5390/hooks/b')
})

deepTest('what a filter, an order and new rows change is announced, each once', async () => {
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  await shop.invoices.create({ amount: '10.00', currency: 'USD' })
  const page = await open('invoices')
  expect(await said(page)).toBe('')
  await shop.invoices.create({ amount: '11.00', currency: 'USD' })
  await expect.poll(() => said(page)).toBe('1 new invoice')
  await shop.invoices.create({ amount: '12.00', currency: 'USD' })
  await page.getByRole('button', { name: '2 new invoices' }).waitFor()
  // A busy shop must not talk over everything else.
  expect(await said(page)).toBe('1 new invoice')
  await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click()
  await expect.poll(() => said(page)).toBe('Sorted by Created, oldest first')
  await page.getByLabel('Source', { exact: true }).selectOption('api')
  await page.getByRole('button', { name: 'Remove filter Source: API' }).click()
  await expect.poll(() => said(page)).toBe('Filter Source removed')
})

deepTest('on a phone the bar leads to the daily pages, "More" to all others, and filters open in a sheet', async () => {
  const page = await open('invoices', 390)
  const bar = page.getByRole('navigation', { name: 'Main' })
  expect(await bar.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Exceptions', 'Invoices', 'Payments'])
  expect(await bar.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
  await bar.getByRole('button', { name: 'More' }).click()
  await page.getByRole('dialog', { name: 'All pages' }).getByRole('link', { name: 'Team' }).click()
  await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('button', { name: 'Filters' }).click()
  const sheet = page.getByRole('dialog', { name: 'Filters' })
  await sheet.getByLabel('Source', { exact: true }).selectOption('link')
  await sheet.getByRole('button', { name: 'Show the list' }).click()
  await page.getByRole('button', { name: 'Remove filter Source: Payment link' }).waitFor()
  await page.getByRole('button', { name: 'Filters (1)' }).waitFor()
  expect(await sidewaysPixels(page)).toBe(0)
  expect(await axeViolations(page)).toEqual([])
})
