import { beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Invoice, type Paymesh } from '#clients/typescript/src/main.ts'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'
import { moveDeadline } from '#test/support/world.ts'

const browser = useBrowser()
const HOUR_MS = 3_600_000
const HOSTILE = '=1+1 <script>alert(1)</script> \u202egnp.exe'
let dev: DevInfo
let shop: Paymesh
let dataDir: string

beforeAll(async () => {
  dataDir = inject('stackDataDir')
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
})

const pathOf = (page: string) => dashboardPath(page, dev.workspaceId, 'test')

/** A real transfer on the local chain; gives its transaction. */
async function pay({ crypto }: Invoice): Promise<string> {
  const rpcUrl = crypto === null ? undefined : dev.rpcUrls[crypto.network]
  if (crypto === null || rpcUrl === undefined) throw new Error('the invoice cannot be paid here')
  const asset = crypto.asset as keyof typeof ASSETS
  const { txHash } = await payLocally({
    rpcUrl,
    asset,
    contract: ASSETS[asset].contract,
    to: crypto.address,
    amountBase: BigInt(crypto.amount_base_units),
  })
  return txHash
}

async function until(id: string, holds: (invoice: Invoice) => boolean): Promise<Invoice> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const invoice = await shop.invoices.get(id)
    if (holds(invoice)) return invoice
    if (Date.now() > deadline) throw new Error(`invoice ${id} is still ${invoice.status}`)
  }
}

test('a late payment is explained, and resolved from the inbox', async () => {
  const made = await shop.invoices.create({
    amount: '25.00',
    currency: 'USD',
    asset: 'usdt_ethereum',
    order_id: HOSTILE,
  })
  await moveDeadline(dataDir, made.id, new Date(Date.now() - 3 * HOUR_MS))
  await until(made.id, ({ status }) => status === 'expired')
  const txHash = await pay(made)
  await until(made.id, ({ received }) => received.confirmed_base_units === made.crypto?.amount_base_units)

  const page = await browser.open()
  await logIn(page, dev, `${pathOf('explain')}?q=${txHash}`)
  await page.getByRole('heading', { name: 'Not applied: too late' }).waitFor()
  await expect
    .poll(async () => await page.getByRole('list', { name: 'Evidence' }).getByRole('listitem').count())
    .toBeGreaterThan(3)
  await page.getByRole('link', { name: 'Open exception' }).click()

  const entry = page.getByRole('complementary', { name: 'Late payment' })
  const evidence = entry.getByRole('table', { name: 'Evidence' })
  await evidence.getByText('Too late').waitFor()
  await evidence.getByText('Exact').waitFor()
  // What a merchant wrote is text, and cannot turn the text around it.
  await entry.getByText('=1+1 <script>alert(1)</script> ␦gnp.exe').waitFor()
  // By keys: R and A select an answer and move to its reason; neither decides anything.
  for (const [key, answer] of [
    ['r', 'Reject'],
    ['a', 'Accept as paid'],
  ] as const) {
    await entry.getByRole('heading').first().focus()
    await page.keyboard.press(key)
    await expect.poll(() => entry.getByRole('radio', { name: answer }).isChecked()).toBe(true)
  }
  await page.keyboard.type('Customer paid from a slow exchange.')
  expect(await entry.getByLabel('Reason').inputValue()).toBe('Customer paid from a slow exchange.')
  await entry.getByRole('button', { name: /^Accept .* USDT as paid$/ }).dblclick()
  await entry.getByText(/accepted it at/).waitFor()

  await until(made.id, ({ status }) => status === 'paid')
  await entry.getByRole('link', { name: `invoice #${made.number}` }).click()
  await page.getByText('Paid in full.').waitFor()
  await page.getByRole('list').getByText('Customer paid from a slow exchange.').first().waitFor()
})

// Guarantee: who payment methods the rate of a coin for days reads before it who bears the loss.
test('a locked rate of more than a day warns, without a coin or for a day nothing does', async () => {
  const page = await browser.open()
  await logIn(page, dev, pathOf('invoices/new'))
  const warning = page.getByText('The rate is locked for the whole period. If the coin loses value, you bear the loss.')
  await page.getByLabel('Valid for').selectOption('604800')
  await page.getByText('After that it expires').waitFor()
  await page.getByLabel('Coin', { exact: true }).selectOption('usdt_ethereum')
  await warning.waitFor()
  await page.getByLabel('Valid for').selectOption('86400')
  await warning.waitFor({ state: 'detached' })
})

deepTest('an invoice is made by hand, paid in play, and its customer forgotten', async () => {
  const page = await browser.open()
  await logIn(page, dev, pathOf('invoices/new'))
  await page.getByLabel('Amount').fill('1250,50')
  await page.getByText('= 1,250.50 USD').waitFor()
  await page.getByLabel('Customer email (optional)').fill('m@correo.example')
  await page.getByRole('button', { name: 'Create invoice' }).dblclick()
  await page.waitForURL(/invoices\/[0-9a-f-]{36}$/)
  await page.getByText('No coin chosen yet. Send the checkout link.').waitFor()
  await page.getByRole('button', { name: 'Full payment' }).click()
  await page.getByText('Paid in full.').waitFor()
  await page.getByRole('button', { name: 'Erase personal data' }).click()
  const question = page.getByRole('dialog', { name: 'Erase personal data' })
  await question.getByLabel('Reason').fill('asked by letter')
  await question.getByRole('button', { name: 'Erase personal data' }).click()
  await question.waitFor({ state: 'detached' })
  await page.getByText('m@correo.example').waitFor({ state: 'detached' })
  const id = page.url().split('/').at(-1) ?? ''
  expect((await shop.invoices.get(id)).customer).toEqual({ email: null, name: null })
  // Guarantee: a double click made one invoice.
  const { data } = await shop.invoices.list({ limit: 5 }).page()
  expect(data.filter(({ amount }) => amount.value === '1250.50')).toHaveLength(1)
})

deepTest('a payment link is made, shown as a code and ended', async () => {
  const page = await browser.open()
  await logIn(page, dev, pathOf('links'))
  await page.getByRole('button', { name: 'New link' }).first().click()
  const form = page.getByRole('dialog', { name: 'New payment link' })
  await form.getByLabel('Title').fill('Donation')
  await form.getByText('Customer chooses').click()
  await form.getByLabel('Minimum (optional)').fill('5')
  await form.getByRole('button', { name: 'Create link' }).click()
  await page.waitForURL(/links\/[0-9a-f-]{36}$/)
  await page.getByRole('img', { name: 'QR code of the payment link Donation' }).waitFor()
  await page.locator('dd', { hasText: /^From 5\.00 USD$/ }).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'SVG' }).click()
  expect((await saved).suggestedFilename()).toMatch(/^test_payment-link-.*\.svg$/)
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('Inactive').waitFor()
})

deepTest('the list says which amounts a payment link takes', async () => {
  const bounds = {
    'Up to 1,250.50 USD': { max_amount: '1250.50' },
    'From 1,000.00 USD': { min_amount: '1000.00' },
    '5.00 – 1,000.00 USD': { min_amount: '5.00', max_amount: '1000.00' },
    'Any amount, USD': {},
  }
  const expected = new Map<string, string>()
  for (const [words, given] of Object.entries(bounds)) {
    const link = await shop.paymentLinks.create({ title: 'Tips', currency: 'USD', allow_custom_amount: true, ...given })
    expected.set(link.id, words)
  }
  const page = await browser.open()
  await logIn(page, dev, pathOf('links'))
  await settled(page)
  for (const [id, words] of expected)
    expect(await page.locator(`[data-row-id="${id}"] [data-label="Amount"]`).textContent()).toBe(words)
})
