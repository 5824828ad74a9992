import type { Page } from 'playwright-core'
import { beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, rulesOf, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { moveDeadline } from '#test/support/world.ts'

// How many clicks the five tasks take that operators do every day. Typing is not a click.
const browser = useBrowser()
const CUSTOMER = 'rosa@correo.example'
const HOUR_MS = 3_600_000
let dev: DevInfo
let shop: Paymesh
let session: NonNullable<Parameters<typeof browser.open>[0]>['storageState']
beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const page = await browser.open()
  await logIn(page, dev)
  session = await page.context().storageState()
})

/** A page of the dashboard that counts the clicks of its mouse, over every page that it goes on to. */
async function open(path: string): Promise<{ readonly page: Page; readonly clicks: () => Promise<number> }> {
  const page = await browser.open({ ...(session !== undefined && { storageState: session }) })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.addInitScript(`addEventListener('click', (event) => {
    if (event.isTrusted && event.detail > 0) sessionStorage.setItem('clicks', String(Number(sessionStorage.getItem('clicks')) + 1))
  }, true)`)
  await page.goto(`${dev.adminUrl}${dashboardPath(path, dev.workspaceId, 'test')}`)
  await settled(page)
  const clicks = async () => {
    const count = Number(await page.evaluate(`sessionStorage.getItem('clicks')`))
    expect(count, 'the counter counts').toBeGreaterThan(0)
    return count
  }
  return { page, clicks }
}

async function invoice(scenario: 'paid' | 'partial' | 'overpaid', email?: string): Promise<string> {
  const customer = email === undefined ? {} : { customer: { email } }
  const { id } = await shop.invoices.create({ amount: '40.00', currency: 'USD', asset: 'usdt_ethereum', ...customer })
  await shop.invoices.simulate(id, scenario)
  await expect.poll(async () => (await shop.invoices.get(id)).status, { timeout: 60_000 }).toBe(scenario)
  return id
}
const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

test('“I paid, where is it?”, asked by e-mail address: one click after typing', async () => {
  const id = await invoice('paid', CUSTOMER)
  const { page, clicks } = await open('invoices')
  await page.keyboard.press('/')
  await page.keyboard.type(CUSTOMER)
  await page.keyboard.press('Enter')
  const row = page.locator(`main [data-row-id="${id}"]`)
  await expect.poll(() => page.locator('main [data-row-id]').count()).toBe(1)
  await row.locator('[data-row-link]').click()
  await page.getByText(/Paid in full\. .* confirmed in 1 payment\./).waitFor()
  expect(await clicks()).toBeLessThanOrEqual(1)
})

test('accept a shortfall: two clicks', async () => {
  const id = await invoice('partial')
  await moveDeadline(inject('stackDataDir'), id, new Date(Date.now() - 3 * HOUR_MS))
  await expect
    .poll(async () => (await shop.invoices.get(id)).status, { timeout: 60_000 })
    .not.toMatch(/pending|confirming/)
  const { number } = await shop.invoices.get(id)
  const { page, clicks } = await open('exceptions')
  await page.locator('main [data-row-id]', { hasText: `#${number}` }).click({ timeout: 60_000 })
  const entry = page.getByRole('complementary').filter({ hasText: `#${number}` })
  await entry.getByRole('heading').first().waitFor()
  await page.keyboard.press('a')
  await page.keyboard.type('It is a regular customer.')
  await entry.getByRole('button', { name: /^Accept .* as paid$/ }).click()
  await entry.getByText(/accepted it at/).waitFor()
  expect(await clicks()).toBeLessThanOrEqual(2)
  await expect.poll(async () => (await shop.invoices.get(id)).status).toBe('paid')
})

deepTest('resend a webhook: two clicks', async () => {
  const receiver = await startWebhookReceiver()
  try {
    await shop.webhookEndpoints.create({ url: receiver.url, events: ['invoice.created'] })
    await shop.invoices.create({ amount: '5.00', currency: 'USD' })
    await receiver.waitForCount(1, 60_000)
    const { page, clicks } = await open('webhooks/deliveries')
    const delivered = page.locator('main [data-row-id]', { hasText: 'Delivered' }).first()
    await delivered.locator('[data-row-link]').click({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Resend now' }).click()
    await page.getByText('Resent as a new delivery of the same event.').first().waitFor()
    expect(await clicks()).toBeLessThanOrEqual(2)
    await receiver.waitForCount(2, 60_000)
  } finally {
    await receiver.close()
  }
})

deepTest('create a payment link and copy it: three clicks', async () => {
  const { page, clicks } = await open('links')
  await page.getByRole('button', { name: 'New link' }).first().click()
  const form = page.getByRole('dialog', { name: 'New payment link' })
  await form.getByLabel('Title').waitFor()
  await page.keyboard.type('Coffee')
  await form.getByRole('textbox', { name: 'Amount' }).focus()
  await page.keyboard.type('4.50')
  await form.getByRole('button', { name: 'Create link' }).click()
  await page.getByRole('button', { name: 'Copy link', exact: true }).click()
  expect(await clicks()).toBeLessThanOrEqual(3)
  expect(await copied(page)).toMatch(/^https?:\/\/.*\/l\/[0-9a-f-]{36}$/)
})

deepTest(
  'refund an overpayment: three clicks to the link for the customer, with the difference filled in',
  async () => {
    const id = await invoice('overpaid')
    const { page, clicks } = await open(`invoices/${id}`)
    await page.getByRole('button', { name: 'Refund …' }).click()
    const form = page.getByRole('dialog', { name: 'Prepare a refund' })
    await form.getByText(/Suggested: the amount above the price/).waitFor()
    for (const theme of ['light', 'dark'] as const) {
      await showTheme(page, theme)
      expect([theme, await axeViolations(page, rulesOf(theme))]).toEqual([theme, []])
    }
    await form.getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('button', { name: 'Copy refund link' }).click()
    expect(await clicks()).toBeLessThanOrEqual(3)
    expect(await copied(page)).toContain('/r/')
  },
)

// Guarantee: nothing is sent, and an address that was only suggested goes nowhere unless an operator chose it.
deepTest('an overpayment in the inbox leads to its refund, whose address may be given by hand', async () => {
  const id = await invoice('overpaid')
  const { number } = await shop.invoices.get(id)
  const { page } = await open('exceptions')
  await page.locator('main [data-row-id]', { hasText: `#${number}` }).click({ timeout: 60_000 })
  await page.getByRole('link', { name: /^Refund [\d.]+ USDT …$/ }).click()
  const form = page.getByRole('dialog', { name: 'Prepare a refund' })
  const amount = await form.getByRole('textbox', { name: /^Amount in/ }).inputValue()
  expect(await form.getByRole('radio', { name: 'Ask the customer by link' }).isChecked()).toBe(true)
  await form
    .getByRole('radio', { name: /address/ })
    .last()
    .click()
  const address = form.getByRole('textbox', { name: 'Ethereum address' })
  await address.fill('0x123')
  await form.getByRole('button', { name: 'Prepare refund' }).click()
  await form
    .getByRole('alert')
    .or(form.getByText(/address/i))
    .first()
    .waitFor()
  expect(await address.inputValue()).toBe('0x123')
  await address.fill('0x52908400098527886E0F7030069857D2E4169EE7')
  await form.getByRole('button', { name: 'Prepare refund' }).click()
  await form.waitFor({ state: 'detached' })
  await page.getByText('Address received').waitFor()
  await page.getByText('0x52908400098527886E0F7030069857D2E4169EE7').waitFor()
  await page.getByText(`${amount} USDT`).first().waitFor()
})

// Guarantee: nobody refunds a thousand times too much because of a comma.
deepTest(
  'the amount of a refund takes a decimal comma and spaces around it, and never guesses at groups of digits',
  async () => {
    const { page } = await open(`invoices/${await invoice('overpaid')}`)
    await page.getByRole('button', { name: 'Refund …' }).click()
    const form = page.getByRole('dialog', { name: 'Prepare a refund' })
    const amount = form.getByRole('textbox', { name: /^Amount in/ })
    const create = form.getByRole('button', { name: 'Create link' })
    for (const typed of ['1,234', '1,234.5', '1.234,50', '0']) {
      await amount.fill(typed)
      await form.getByText(/^Enter an amount above zero without thousands separators/).waitFor()
      expect([typed, await create.isDisabled()]).toEqual([typed, true])
      expect(await amount.inputValue()).toBe(typed)
    }
    await amount.fill(' 0,25 ')
    await create.click()
    await form.waitFor({ state: 'detached' })
    await page.getByText('0.25 USDT').first().waitFor()
  },
)

deepTest('a note says who wrote it and when, and is erased with the customer', async () => {
  const id = await invoice('paid', CUSTOMER)
  const { page } = await open(`invoices/${id}`)
  await page.getByLabel('New note').fill('Rosa called: she paid from an exchange.')
  await page.getByRole('button', { name: 'Add note' }).click()
  const notes = page.getByRole('list', { name: 'notes' })
  await notes.getByText('Rosa called: she paid from an exchange.').waitFor()
  await notes.getByText(dev.ownerEmail ?? '').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByText(`Note added by ${dev.ownerEmail}`).waitFor()
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  const question = page.getByRole('dialog', { name: 'Erase personal data' })
  await question.getByLabel('Reason').fill('asked by letter')
  await question.getByRole('button', { name: 'Erase personal data' }).click()
  await notes.getByText('Erased with the customer’s data.').waitFor()
  expect(await page.getByText('Rosa called').count()).toBe(0)
})
