import { beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Invoice, type Paymesh } from '#clients/typescript/src/main.ts'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson, ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
let shop: Paymesh

beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
})

/** A real transfer on the local chain. */
async function pay({ crypto }: Invoice, amountBase: bigint): Promise<void> {
  const rpcUrl = crypto === null ? undefined : dev.rpcUrls[crypto.network]
  if (crypto === null || rpcUrl === undefined) throw new Error('the invoice cannot be paid here')
  const { address: to } = crypto
  const asset = crypto.asset as keyof typeof ASSETS
  await payLocally({ rpcUrl, asset, contract: ASSETS[asset].contract, to, amountBase })
}

async function confirmed(id: string): Promise<void> {
  await expect
    .poll(async () => (await shop.payments.list({ invoice_id: id, limit: 1 }).page()).data[0]?.status, {
      timeout: 60_000,
    })
    .toBe('confirmed')
}

// Guarantee: 0.000001 USDT of a stranger decides nothing, and an operator sees it, reads why, and may count it.
test('dust is shown with its reason, leaves the payer every choice, and counts by an operator’s word', async () => {
  const made = await shop.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
  await pay(made, 1n)
  await confirmed(made.id)
  // The reason is written by the invoice, later than the payment.
  await expect
    .poll(async () => (await shop.payments.list({ invoice_id: made.id, limit: 5 }).page()).data, { timeout: 60_000 })
    .toMatchObject([{ counted: false, uncounted_reason: 'dust' }])
  expect((await shop.invoices.get(made.id)).status).toBe('pending')

  const payer = await browser.open()
  await payer.goto(made.urls.checkout)
  await payer.getByText('After you send, it takes 3 confirmations, usually under 1 min.').waitFor()
  await payer.getByText('Pay with another coin').click()
  await payer.getByRole('button', { name: 'Choose another coin' }).waitFor()

  const page = await browser.open()
  await logIn(page, dev, dashboardPath(`invoices/${made.id}`, dev.workspaceId, 'test'))
  const row = page.getByRole('table', { name: 'Payments' }).getByRole('row').nth(1)
  await row.getByText('Not applied').waitFor()
  await row.getByText(/it is dust, smaller than 0\.02\d+ USDT/).waitFor()
  await row.getByRole('button', { name: 'Apply payment' }).click()
  const question = page.getByRole('dialog', { name: 'Apply payment' })
  await question.getByLabel('Reason').fill('The customer asked for it.')
  await question.getByRole('button', { name: 'Apply payment' }).click()
  await row.getByText('counts because an operator applied it').waitFor()
  expect(await shop.invoices.get(made.id)).toMatchObject({
    status: 'partial',
    received: { confirmed_base_units: '1' },
  })
})

test('tiers by value are typed, refused where they make no sense, and saved', async () => {
  const page = await browser.open()
  const path = dashboardPath('settings/confirmations', dev.workspaceId, 'test')
  const owner = await openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'owner' })
  await logIn(page, { ...dev, ownerEmail: owner.email, ownerPassword: owner.password })
  await enrolAuthenticator(page, owner.password)
  await page.goto(`${dev.adminUrl}${path}`)
  const field = page.getByLabel('DOGE on Dogecoin')
  await page.getByText('Default: 40, 10000: 60').first().waitFor()
  await field.fill('3, 100: 2')
  await page.getByText('A higher tier must not require fewer confirmations.').waitFor()
  await field.fill('one')
  await page.getByText('Enter a number, or tiers such as').waitFor()
  await field.fill('2, 5000: 6')
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByText('Saved. Applies to new invoices.').first().waitFor()
  await expect.poll(async () => await field.inputValue()).toBe('2, 5000: 6')
  await page.reload()
  await expect.poll(async () => await field.inputValue(), { timeout: 30_000 }).toBe('2, 5000: 6')
})
