import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { cancelInvoice } from '#shared/usecases/invoices/cancel-invoice.ts'
import { simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, orphanPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, openEngine, paymentMethodOf } from './engine.ts'
import type { TestStores } from './stores.ts'

const HOUR_MS = 3_600_000
/** What each invoice asks for, in base units. */
const DUE = 25_000_000n
const CHAIN = { mode: 'test', network: 'ethereum', epoch: 1 } as const

/** What became of the invoices of the stage, by their names. */
export const STAGE_STATUSES = {
  paid: 'paid',
  parts: 'paid',
  overpaid: 'overpaid',
  reorganised: 'paid',
  partial: 'partial',
  dusty: 'partial',
  confirming: 'confirming',
  cancelled: 'cancelled',
  simulated: 'overpaid',
  late: 'expired',
  waiting: 'pending',
} as const
export type StageName = keyof typeof STAGE_STATUSES

/** The engine with an invoice in every state, paid in transfers of test ethereum, everything relayed, an hour ago. */
export async function openReconciliationStage(stores: TestStores) {
  const engine = await openEngine(stores)
  const { deps } = engine
  const ids = new Map<StageName, string>()
  let height = 10

  const idOf = (name: StageName): string => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`no invoice is ${name}`)
    return id
  }
  const open = async (name: StageName) => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    ids.set(name, invoice.terms.id)
    return invoice
  }
  /** A block with one transfer. */
  const transfer = async (name: StageName, to: { matchKey: string; address: string }, amountBase: bigint) => {
    height += 10
    const block = blockWith(height, deps.clock.now(), to, [{ key: `${name}-${height}`, amountBase }])
    await recordBlockTransfers(deps, { ...CHAIN, blocks: [block] })
    await advanceInvoice(deps, idOf(name))
  }
  const pay = async (name: StageName, ...amounts: readonly bigint[]): Promise<void> => {
    const invoice = await open(name)
    for (const amountBase of amounts) await transfer(name, paymentMethodOf(invoice), amountBase)
    if (name !== 'confirming') await confirmPayments(deps, { ...CHAIN, height: height + 2, finalizedHeight: null })
    await advanceInvoice(deps, invoice.terms.id)
  }
  await pay('paid', DUE)
  await pay('parts', DUE / 5n, DUE / 5n, (DUE * 3n) / 5n)
  await pay('overpaid', DUE * 2n)
  await pay('reorganised', DUE)
  await orphanPayments(deps, { ...CHAIN, forkHeight: height - 1 })
  await advanceInvoice(deps, idOf('reorganised'))
  await pay('partial', DUE / 2n)
  await pay('dusty', DUE / 2n, 1_000n)
  await pay('confirming', DUE)
  const scope = { workspaceId: engine.workspace.id, mode: 'test' } as const
  ids.set('cancelled', (await engine.open()).terms.id)
  await cancelInvoice(deps, { ...scope, invoiceId: idOf('cancelled'), opId: 'cancel' })
  await open('simulated')
  await simulatePayment(deps, { ...scope, invoiceId: idOf('simulated'), scenario: 'overpaid', opId: 'simulate' })
  const late = await open('late')
  engine.advance(late.state.expiresAt + 60_000 - deps.clock.now())
  await engine.publishRates()
  await engine.setCursor(height + 50, deps.clock.now())
  await advanceInvoice(deps, idOf('late'))
  await transfer('late', paymentMethodOf(late), DUE / 3n)
  await pay('waiting')
  const { relayShard } = createOutboxRelay(deps)
  for (let shard = 0; shard < OUTBOX_SHARDS; shard += 1) await relayShard(shard)
  engine.advance(HOUR_MS)
  const nameOf = (id: string): string => [...ids].find(([, known]) => known === id)?.[0] ?? id
  return { engine, idOf, nameOf, count: ids.size }
}
