import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENT_HINTS } from '#shared/db/payments/payment-hints.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { HINTS_MAX } from '#shared/usecases/invoices/note-payment-hint.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
let stage: CheckoutStage
beforeAll(async () => {
  stage = await openCheckout(stores)
})
beforeEach(() => stage.engine.watchEverything())
afterAll(() => stage.close())

let payers = 0
const payer = () => {
  payers += 1
  return `203.0.113.${payers}`
}
const hash = (digit: number) => `0x${digit.toString(16).padStart(64, 'e')}`
const hint = (id: string, txHash: string, from = payer()) => stage.post(`/api/i/${id}/hint`, { txHash }, from)
const stored = (invoiceId: string) => stores.db.collection(PAYMENT_HINTS).find({ invoiceId }).toArray()

describe('what a payer’s wallet announces', () => {
  // Guards money: only the scanner changes an invoice, whatever a wallet or a stranger claims.
  it('is shown, and changes nothing of the invoice, also when it is a lie', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const read = () => stores.db.collection(INVOICES).findOne({ _id: invoice.terms.id })
    const before = await read()
    const { status, body } = await hint(invoice.terms.id, hash(1).toUpperCase().replace('0X', '0x'))
    expect(status).toBe(200)
    expect(body.view).toMatchObject({ status: 'pending', received: '0.00', payments: [] })
    expect(body.view.hints).toEqual([{ txHash: hash(1), explorerUrl: null, at: expect.any(Number) }])
    expect((await stage.get(`/api/i/${invoice.terms.id}`)).body.view.hints).toHaveLength(1)
    expect(await read()).toEqual(before)
  })

  it('is kept once, and five times at most, also from many processes at once', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    await Promise.all(Array.from({ length: 20 }, (_, index) => hint(id, hash(index + 1))))
    expect(await stored(id)).toHaveLength(HINTS_MAX)
    await hint(id, hash(99))
    const [known] = await stored(id)
    expect((await hint(id, known?.txHash ?? '')).status).toBe(200)
    expect(await stored(id)).toHaveLength(HINTS_MAX)
  })

  it('is kept and shown once when the same is announced by two tabs at once', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const spellings = [hash(1), hash(1).toUpperCase().replace('0X', '0x')]
    await Promise.all(Array.from({ length: 10 }, (_, index) => hint(id, spellings[index % 2] ?? '')))
    expect(await stored(id)).toHaveLength(1)
    const others = Array.from({ length: 12 }, (_, index) => hint(id, hash((index % 2) + 2)))
    await Promise.all(others)
    const { view } = (await stage.get(`/api/i/${id}`)).body
    const shown = view.hints.map(({ txHash }: { readonly txHash: string }) => txHash)
    expect(shown.sort()).toEqual([hash(1), hash(2), hash(3)])
  })

  it('is refused when it is no transaction id of the network, or anything larger', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    for (const wrong of ['x'.repeat(64), '1'.repeat(88), 'e'.repeat(65)]) {
      const { status, body } = await hint(invoice.terms.id, wrong)
      expect([status, body.error.details]).toEqual([400, [{ path: 'txHash', message: 'is not a transaction ID' }]])
    }
    for (const wrong of ['', 'e'.repeat(89), 'e'.repeat(3_000)])
      expect((await hint(invoice.terms.id, wrong)).status).toBe(400)
    expect((await hint('01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e41', hash(1))).status).toBe(404)
    expect(await stored(invoice.terms.id)).toEqual([])
  })

  it('is kept by no invoice without a coin', async () => {
    const { terms } = await stage.engine.open()
    expect((await hint(terms.id, hash(1))).status).toBe(200)
    expect(await stored(terms.id)).toEqual([])
  })

  it('gives way to the payment when the scanner finds it', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const at = stage.engine.deps.clock.now()
    const block = blockWith(10, at, paymentMethodOf(invoice), [{ key: `paid-${id}`, amountBase: 1_000_000n }])
    const [first] = block.transfers
    if (first === undefined) throw new Error('the block has no transfer')
    const found = { ...block, transfers: [{ ...first, txHash: hash(7) }] }
    await hint(id, hash(7))
    expect((await stage.get(`/api/i/${id}`)).body.view.hints).toHaveLength(1)
    await recordBlockTransfers(stage.engine.deps, { mode: 'test', network: 'ethereum', blocks: [found], epoch: 1 })
    await applyInvoiceEvent(stage.engine.deps, { invoiceId: id, event: { type: 'payments_changed' }, opId: null })
    const { view } = (await stage.get(`/api/i/${id}`)).body
    expect(view.hints).toEqual([])
  })

  it('costs its sender a token each, so that nobody fills the store from one connection', async () => {
    const from = payer()
    const { terms } = await stage.engine.open({ asset: 'usdt_ethereum' })
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => hint(terms.id, hash(index), from)))
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
  })
})
