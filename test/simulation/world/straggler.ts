import type { InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import type { Prng } from '../kernel/prng.ts'
import type { SimChain, SimTx } from './chain.ts'
import type { PublicInvoice } from './public-invoice.ts'
import { changeMode } from './scan-modes.ts'
import type { Sim } from './sim.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * Now and then pays once more when an invoice ended hours or days ago, on chains that are not always read in full; where modes change, one
 * changes soon after. `send` sends the amount due.
 */
export async function straggle(
  sim: Sim,
  chain: SimChain,
  { id, expires_at: expiresAt }: Pick<PublicInvoice, 'id' | 'expires_at'>,
  { random, send }: { readonly random: Prng; readonly send: () => SimTx },
): Promise<void> {
  const plan = sim.scanPlans.get(chain.id)
  if (plan === undefined || (!plan.isThrifty && plan.switches === 0) || random.chance(0.4)) return
  const [invoice] = sim.store.collection('invoices').find({ _id: id }, sim.store.now()) as unknown as InvoiceDocument[]
  // An address that others get after it may be somebody else's by then.
  if (invoice === undefined || invoice.paymentMethods.some(({ hold }) => hold != null)) return
  const laterMs = random.chance(0.5) ? random.next() * 3 * HOUR_MS : (24.5 + random.next() * 20) * HOUR_MS
  await sim.sleep(Math.max(0, Date.parse(expiresAt) - sim.scheduler.now) + laterMs, 'straggler')
  sim.trace.add(`  straggler of ${id}`)
  send()
  if (plan.switches === 0) return
  await sim.sleep((1 + random.next() * 40) * MINUTE_MS, 'change of mode')
  if (!sim.healed || random.chance(0.5)) changeMode(sim, chain.id, plan)
}
