import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createProductRepository } from '#shared/db/payment-links/product-repository.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { PaymentState } from '#shared/domain/enumerations.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createPaymentLink } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const SCOPE = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const MINUTE = 60_000
const stores = useStores()
let stage: CheckoutStage
let height = 100
let payers = 0
beforeAll(async () => {
  stage = await openCheckout(stores)
  await stage.engine.setCursor(height, stage.engine.deps.clock.now())
})
afterAll(() => stage.close())

async function seat(): Promise<string> {
  const linkId = randomUUID()
  const body = {
    kind: 'own',
    title: 'Seat',
    description: null,
    currency: 'USD',
    amount: { kind: 'fixed', minor: 700n },
  }
  const repositories = {
    paymentLinks: createPaymentLinkRepository(stores.db),
    products: createProductRepository(stores.db),
  }
  const manage = { ...stage.deps, ...repositories, urls: { checkoutBaseUrl: stage.url } }
  const { workspace } = stage.engine
  await createPaymentLink(manage, { workspace, mode: 'test', body: body as never, linkId, limits: { usesMax: 1 } })
  return linkId
}

const pay = (linkId: string) => {
  payers += 1
  return stage.post(`/api/l/${linkId}/invoice`, { actionId: randomUUID() }, `192.0.2.${payers}`)
}

async function stored(id: string) {
  const found = await stage.engine.deps.invoices.findById(id)
  if (found === null) throw new Error('no invoice')
  return found
}

/** An invoice of the link's only use, with a coin, that expired a minute ago. */
async function expiredWithCoin(linkId: string, meanwhile = async (_id: string) => {}): Promise<string> {
  const { id } = (await pay(linkId)).body.invoice
  const chosen = await stage.post(
    `/api/i/${id}/asset`,
    { asset: 'usdt_ethereum', actionId: randomUUID() },
    '192.0.2.250',
  )
  expect(chosen.status).toBe(200)
  await meanwhile(id)
  const { state } = await stored(id)
  stage.engine.advance(state.expiresAt + MINUTE - stage.engine.deps.clock.now())
  await stage.engine.publishRates()
  height += 1
  await stage.engine.setCursor(height, stage.engine.deps.clock.now())
  await advanceInvoice(stage.engine.deps, id)
  expect((await stored(id)).state.status).toBe('expired')
  return id
}

/** Its payments change as a scanner would change them. */
async function change(invoiceId: string, state: PaymentState): Promise<void> {
  const news = { $set: { state, dirtyAt: new Date() }, $inc: { version: 1 } }
  await stores.db.collection(PAYMENTS).updateMany({ invoiceId }, news)
  await advanceInvoice(stage.engine.deps, invoiceId)
}

/** The whole amount, confirmed, in a block of this time. */
async function payInFull(id: string, at = stage.engine.deps.clock.now(), parts = 1): Promise<void> {
  const { deps } = stage.engine
  const invoice = await stored(id)
  const method = paymentMethodOf(invoice)
  height += 10
  const due = method.quotes[0]?.amountBase ?? 0n
  const amountBase = due / BigInt(parts) + (parts === 1 ? 0n : 1n)
  const transfers = Array.from({ length: parts }, () => ({ key: `k${randomUUID()}`, amountBase }))
  await recordBlockTransfers(deps, { ...SCOPE, blocks: [blockWith(height, at, method, transfers)] })
  await confirmPayments(deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
  await advanceInvoice(deps, id)
}

// Guards money: of one seat, no second invoice becomes paid by itself because its payer was minutes late.
it('leaves money that comes after the use went to another payer to the merchant', async () => {
  const linkId = await seat()
  const first = await expiredWithCoin(linkId)
  const second = (await pay(linkId)).body.invoice.id
  expect(await stores.db.collection(INVOICES).countDocuments({ linkUse: `${linkId}:1` })).toBe(1)
  await payInFull(first)
  const late = await stored(first)
  expect([late.state.status, late.state.ledger.map((row) => [row.late, row.eligible])]).toEqual([
    'expired',
    [[true, false]],
  ])
  expect(late.state.exceptions.map(({ exception }) => exception)).toEqual(['late'])
  expect((await stored(second)).state.status).toBe('new')
})

// Finding: a payment that its sender replaced for the price of a fee held a use for ever. Guards money: when it does return, a person decides.
it('returns the use of an invoice whose only payment vanished, and leaves that payment to the merchant', async () => {
  const linkId = await seat()
  const first = await expiredWithCoin(linkId, async (id) => {
    const { deps } = stage.engine
    height += 1
    const method = paymentMethodOf(await stored(id))
    const transfer = { key: `k${randomUUID()}`, amountBase: method.quotes[0]?.amountBase ?? 0n }
    await recordBlockTransfers(deps, { ...SCOPE, blocks: [blockWith(height, deps.clock.now(), method, [transfer])] })
    await change(id, 'orphaned')
  })
  const { ledger } = (await stored(first)).state
  expect(ledger.map(({ state, late }) => [state, late])).toEqual([['orphaned', false]])
  const second = (await pay(linkId)).body.invoice.id
  await change(first, 'confirmed')
  const { state } = await stored(first)
  expect([state.status, state.ledger.map((row) => [row.late, row.eligible])]).toEqual(['expired', [[true, false]]])
  expect(state.exceptions.map(({ exception }) => exception)).toEqual(['late'])
  expect((await stored(second)).state.status).toBe('new')
})

it('still accepts late money of an invoice that kept its use', async () => {
  const linkId = await seat()
  const first = await expiredWithCoin(linkId)
  await payInFull(first)
  expect((await stored(first)).state).toMatchObject({ status: 'paid', paidLate: true })
  expect((await pay(linkId)).status).toBe(409)
})

// Guards money: an operator let deadlines of a stuck network pass, and the money was on the chain in time all along.
it.each([1, 120])('leaves money of a block that was read too late to the merchant, in %i transfers', async (parts) => {
  const linkId = await seat()
  const first = await expiredWithCoin(linkId)
  const second = (await pay(linkId)).body.invoice.id
  const { expiresAt } = (await stored(first)).state
  await payInFull(first, expiresAt - MINUTE, parts)
  const { state } = await stored(first)
  expect(state.status).toBe('expired')
  expect(state.ledger.some(({ eligible }) => eligible)).toBe(false)
  expect(state.exceptions.map(({ exception }) => exception)).toContain('late')
  expect((await stored(second)).state.status).toBe('new')
})

it('still takes money of a block that was read too late as paid in time where the use was kept', async () => {
  const linkId = await seat()
  const first = await expiredWithCoin(linkId)
  await payInFull(first, (await stored(first)).state.expiresAt - MINUTE)
  expect((await stored(first)).state).toMatchObject({ status: 'paid', paidLate: false })
  expect((await pay(linkId)).status).toBe(409)
})
