import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { axeViolations } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { exceptionalInvoice } from '#test/support/exceptional-invoice.ts'
import { keyed } from '#test/support/keyed.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson, ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
/** A shop's own order number: no invoice has it as its number. */
const ORDER = '900471'
let dev: DevInfo
let shop: Paymesh

beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
})

/** Confirmed money of this workspace that belongs to no invoice, waiting in the inbox: a copy of a payment and its exception. */
async function unmatchedMoney(invoiceId: string): Promise<{ readonly id: string; readonly paymentId: string }> {
  const { mongoUrl, mongoDatabase } = parseConfig(readEnvironment(inject('stackDataDir')) ?? {}).stores
  const logger = createLogger({ name: 'unmatched', level: 'silent' })
  const db = await connectDatabase({ url: mongoUrl, name: mongoDatabase, logger })
  try {
    const payment = await db.collection(PAYMENTS).findOne({ invoiceId, state: 'confirmed' })
    if (payment === null) throw new Error('the invoice has no confirmed payment')
    const txHash = `0x${randomBytes(32).toString('hex')}`
    const paymentKey = `test:${payment.network}:${txHash}:0`
    const free = { _id: randomUUID(), invoiceId: null, counted: false, version: 1, kind: 'onchain' as const, txHash }
    await db.collection(PAYMENTS).insertOne({ ...payment, ...keyed(paymentKey), ...free })
    const id = `unmatched:${paymentKey}:${dev.workspaceId}`
    await createExceptionRepository(db).openOnce([
      {
        ...{ id, kind: 'unmatched', workspaceId: dev.workspaceId, mode: 'test', invoiceId: null, paymentKey },
        ...{ detail: 'Money that belongs to no invoice.', openedAt: Date.now(), closedAt: null },
      },
    ])
    return { id, paymentId: free._id }
  } finally {
    await db.close()
  }
}

// Guarantee: money goes to the invoice with the typed number, or to none. Shops number their orders, too, and the search finds both.
test('money is never applied to an order whose reference looks like the typed number', {
  timeout: 300_000,
}, async () => {
  const order = { amount: '20.00', currency: 'USD', asset: 'usdt_ethereum', order_id: ORDER } as const
  const other = await shop.invoices.create(order)
  const meant = await shop.invoices.create({ ...order, order_id: 'another one', customer: { name: 'Rosa Meant' } })
  const { id: exceptionId } = await unmatchedMoney((await exceptionalInvoice(shop, 'partial')).id)
  const page = await browser.open()
  const path = dashboardPath(`exceptions/${encodeURIComponent(exceptionId)}`, dev.workspaceId, 'test')
  await logIn(page, dev, path)
  const item = page.locator('#main aside')
  await item.getByRole('radio', { name: 'Apply to another invoice' }).check()
  await item.getByRole('textbox', { name: 'Invoice number' }).fill(ORDER)
  await item.getByRole('textbox', { name: 'Reason' }).fill('The customer wrote to us.')
  const apply = item.getByRole('button', { name: /^Apply/ })
  const preview = item.getByRole('button', { name: 'Preview' })
  await preview.click()
  const refusal = item.getByText('No invoice has this number.')
  await refusal.or(page.getByText('Decision saved.')).first().waitFor()
  expect((await shop.invoices.get(other.id)).status).toBe('pending')
  await refusal.waitFor()

  // A number of one's own invoice, but of the wrong one: nothing can be confirmed before its person has read whose it is.
  await item.getByRole('textbox', { name: 'Invoice number' }).fill(`#${other.number}`)
  await preview.click()
  await item.getByText(`Order: ${ORDER}.`).waitFor()
  await apply.waitFor()
  await item.getByRole('textbox', { name: 'Invoice number' }).fill(`#${meant.number}`)
  expect(await apply.count()).toBe(0)
  await preview.click()
  await item.getByText(`Invoice #${meant.number} changes from`).waitFor()
  await item.getByText(/Customer: Rosa Meant\. Order: another one\. Amount due: [\d.]+ USDT\./).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await apply.click()
  await expect.poll(async () => (await shop.invoices.get(meant.id)).status).toBe('paid')
  expect((await shop.invoices.get(other.id)).status).toBe('pending')
})

// Guarantee: a payer who asks two people gets the money back or the goods, never both without a word.
test('money that a colleague rejected is applied only by somebody who says that it was not returned', {
  timeout: 300_000,
}, async () => {
  const invoice = await shop.invoices.create({ amount: '20.00', currency: 'USD', asset: 'usdt_ethereum' })
  const { id, paymentId } = await unmatchedMoney((await exceptionalInvoice(shop, 'partial')).id)
  const colleague = await openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'support' })
  const theirs = await browser.open()
  const path = (page: string) => dashboardPath(page, dev.workspaceId, 'test')
  const login = { ...dev, ownerEmail: colleague.email, ownerPassword: colleague.password }
  await logIn(theirs, login, path(`exceptions/${encodeURIComponent(id)}`))
  const item = theirs.locator('#main aside')
  await item.getByRole('radio', { name: 'Reject' }).check()
  await item.getByRole('textbox', { name: 'Reason' }).fill('Sent back.')
  await item.getByRole('button', { name: 'Reject', exact: true }).click()
  await item.getByText(`${colleague.email} rejected it at`).waitFor()

  const page = await browser.open()
  await logIn(page, dev, path(`explain?q=${paymentId}`))
  await page.getByRole('button', { name: 'Apply to an invoice' }).click()
  const dialog = page.getByRole('dialog', { name: 'Apply to an invoice' })
  await dialog.getByRole('textbox', { name: 'Invoice number' }).fill(String(invoice.number))
  await dialog.getByRole('button', { name: 'Preview' }).click()
  await dialog.getByText(`${colleague.email} rejected this payment at`).waitFor()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('The customer wrote to us.')
  const apply = dialog.getByRole('button', { name: `Apply to #${invoice.number}` })
  expect(await apply.isDisabled()).toBe(true)
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('checkbox', { name: 'It was not returned, and will not be' }).check()
  await apply.click()
  await expect.poll(async () => (await shop.invoices.get(invoice.id)).status).toBe('paid')
})
