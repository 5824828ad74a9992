import { randomUUID } from 'node:crypto'
import { type AuditBehaviour, type MutationPath, once } from './attack-kinds.fixture.ts'

const op = () => ({ opId: randomUUID() })
const because = { reason: 'for the test' }

/** Audit rows and mails of changes of invoices, payments, links, products and exceptions. */
export const MONEY_ATTACKS: Pick<
  Record<MutationPath, AuditBehaviour>,
  Extract<MutationPath, `${'invoices' | 'payments' | 'paymentLinks' | 'products' | 'exceptions'}.${string}`>
> = {
  'invoices.create': once(1, 0, async () => {
    const request = (amount: string) => ({ invoice: { amount, currency: 'USD' } })
    return { input: request('20'), other: request('2000') }
  }),
  'invoices.cancel': once(1, 0, async ({ invoice }) => ({
    input: { id: await invoice() },
    other: { id: await invoice() },
  })),
  'invoices.simulate': once(1, 0, async ({ invoice }) => {
    const id = await invoice({ asset: 'usdt_ethereum' })
    return { input: { id, scenario: 'partial' }, other: { id, scenario: 'paid' } }
  }),
  'invoices.addNote': once(1, 0, async ({ invoice }) => {
    const id = await invoice()
    return { input: { id, text: 'called them' }, other: { id, text: 'did not call them' } }
  }),
  'invoices.eraseCustomer': once(1, 0, async ({ invoice }) => {
    const customer = { email: 'c@example.com', name: 'Carla' }
    return {
      input: { id: await invoice({ customer }), ...because },
      other: { id: await invoice({ customer }), ...because },
    }
  }),
  'invoices.openRefund': once(1, 0, async ({ paid }) => {
    const id = await paid()
    return { input: { id, amount: '5' }, other: { id, amount: '19' } }
  }),
  'invoices.recordRefund': once(1, 0, async ({ boss: { caller, at }, paid }) => {
    const { id: refundId } = await caller.invoices.openRefund({ ...at, ...op(), id: await paid(), amount: '5' })
    const input = { refundId, txHash: `0x${'ab'.repeat(32)}` }
    return { input, other: { refundId, txHash: `0x${'cd'.repeat(32)}` } }
  }),
  'invoices.withdrawRefund': once(1, 0, async ({ boss: { caller, at }, paid }) => {
    const id = await paid()
    const request = async () => (await caller.invoices.openRefund({ ...at, ...op(), id, amount: '1' })).id
    return { input: { refundId: await request() }, other: { refundId: await request() } }
  }),
  'payments.attach': once(1, 0, async ({ latePayment }) => {
    const { invoiceId, payment } = await latePayment()
    const input = { invoiceId, paymentId: payment.id, ...because }
    return { input, other: { ...input, reason: 'for another reason' } }
  }),
  'payments.count': once(1, 0, async ({ dustPayment }) => {
    const [one, two] = [await dustPayment(), await dustPayment()]
    return { input: { paymentId: one.id, ...because }, other: { paymentId: two.id, ...because } }
  }),
  'paymentLinks.create': once(1, 0, async () => {
    const request = (title: string) => ({ link: { title, currency: 'USD', allow_custom_amount: true } })
    return { input: request('Donation'), other: request('Another') }
  }),
  'paymentLinks.update': once(1, 0, async ({ boss: { caller, at } }) => {
    const link = { title: 'Mug', currency: 'USD', amount: '5' }
    const { id, updated_at: updatedAt } = await caller.paymentLinks.create({ ...at, ...op(), link })
    const request = (amount: string) => ({ id, version: Date.parse(updatedAt), link: { title: 'Mug', amount } })
    const undo = async () => {
      const { updated_at: seen } = await caller.paymentLinks.get({ ...at, id })
      await caller.paymentLinks.update({ ...at, ...op(), ...request('5'), version: Date.parse(seen) })
    }
    return { input: request('6'), other: request('600'), undo }
  }),
  'paymentLinks.deactivate': once(1, 0, async ({ boss: { caller, at } }) => {
    const link = { title: 'Donation', currency: 'USD', allow_custom_amount: true }
    const make = async () => (await caller.paymentLinks.create({ ...at, ...op(), link })).id
    return { input: { id: await make() }, other: { id: await make() } }
  }),
  'products.create': once(1, 0, async () => {
    const request = (name: string) => ({ product: { name, price: '5.00', currency: 'USD' } })
    return { input: request('Cup'), other: request('Pot') }
  }),
  'products.update': once(1, 0, async ({ boss: { caller, at } }) => {
    const product = { name: 'Cup', price: '5.00', currency: 'USD' }
    const { id, updated_at: updatedAt } = await caller.products.create({ ...at, ...op(), product })
    const request = (price: string, version: string) => ({
      ...{ id, version: Date.parse(version) },
      product: { name: 'Cup', price },
    })
    const undo = async () => {
      const { items } = await caller.products.list({ ...at, limit: 100 })
      const now = items.find((one) => one.id === id)?.updated_at ?? ''
      await caller.products.update({ ...at, ...op(), ...request('5', now) })
    }
    return { input: request('6', updatedAt), other: request('600', updatedAt), undo }
  }),
  // The exception, and the invoice that gets the money.
  'exceptions.accept': once(2, 0, async ({ latePayment }) => {
    const [one, two] = [await latePayment(), await latePayment()]
    return { input: { id: one.exceptionId, ...because }, other: { id: two.exceptionId, ...because } }
  }),
  'exceptions.attach': once(2, 0, async ({ boss: { workspaceId }, engine, exception, unmatchedPayment }) => {
    const { key: paymentKey } = await unmatchedPayment()
    const id = await exception({ id: `unmatched:${paymentKey}:${workspaceId}`, paymentKey })
    const [one, two] = [await engine.open({ asset: 'usdt_ethereum' }), await engine.open({ asset: 'usdt_ethereum' })]
    const input = { id, invoiceId: one.terms.id, ...because }
    return { input, other: { ...input, invoiceId: two.terms.id } }
  }),
  'exceptions.reject': once(1, 0, async ({ engine, exception }) => {
    const id = await exception()
    const undo = () => exception({ id, openedAt: engine.deps.clock.now() })
    return { input: { id, ...because }, other: { id: await exception(), ...because }, undo }
  }),
  'exceptions.close': once(1, 0, async ({ engine, exception }) => {
    const id = await exception()
    const undo = () => exception({ id, openedAt: engine.deps.clock.now() })
    return { input: { id }, other: { id: await exception() }, undo }
  }),
  'exceptions.closeOfInstallation': once(1, 0, async ({ engine, exception }) => {
    const own = { workspaceId: null, mode: null }
    const id = await exception(own)
    const undo = () => exception({ ...own, id, openedAt: engine.deps.clock.now() })
    return { input: { id }, other: { id: await exception(own) }, undo }
  }),
  // Each exception, and the invoice of each.
  'exceptions.decideMany': once(4, 0, async ({ latePayment }) => {
    const [one, two, three] = [await latePayment(), await latePayment(), await latePayment()]
    const ids = [one.exceptionId, two.exceptionId]
    const input = { ids, resolution: 'accepted', ...because }
    return { input, other: { ...input, ids: [...ids, three.exceptionId] } }
  }),
  'exceptions.note': once(1, 0, async ({ exception }) => {
    const id = await exception()
    return { input: { id, text: 'called them' }, other: { id, text: 'did not call them' } }
  }),
}
