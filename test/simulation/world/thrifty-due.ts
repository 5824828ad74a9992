import type { PaymentDocument } from '#shared/db/payments/payment-model.ts'
import type { CursorDocument } from '#shared/db/scanning/cursor-model.ts'
import { Violation } from '../kernel/violation.ts'
import type { SimChain } from './chain.ts'
import type { Sim } from './sim.ts'

/** A thrifty scanner that expects nothing asks its node so often. */
const RESTING_MS = 600_000
const HOUR_MS = 3_600_000
/** A weekly look at settled blocks finds everything within so long. */
const FOUND_WITHIN_MS = 10 * 24 * HOUR_MS
const WAITING = new Set(['new', 'pending', 'partial', 'confirming'])

const cursorOf = (sim: Sim, id: string): CursorDocument | undefined =>
  sim.store.collection('chain_cursors').find({ _id: id }, sim.store.now())[0] as unknown as CursorDocument | undefined

/** When the scanner of a chain compares its position with the node's next, at the latest. */
export function attentiveAt(sim: Sim, id: string): number {
  const { now } = sim.scheduler
  const cursor = cursorOf(sim, id)
  return cursor?.source === 'thrifty' ? Math.max(now, cursor.headSeenAt.getTime() + RESTING_MS) : now
}

/** When money that stands on a chain of accounts and is not stored yet must be looked for; infinite when there is none. */
export function unfoundAt(sim: Sim, chain: SimChain): number {
  const { now } = sim.scheduler
  const missing = [...sim.book.transfers.values()].filter(
    ({ network, asset, txHash, key }) =>
      network === chain.network &&
      asset !== null &&
      chain.blockOf(txHash) !== null &&
      !isStored(sim, chain, txHash, key) &&
      !isInInbox(sim, chain, txHash, key),
  )
  const [first] = missing
  if (first === undefined) return Number.POSITIVE_INFINITY
  const oldest = Math.min(...missing.map(({ txHash }) => chain.blockOf(txHash)?.time ?? now))
  if (now > Math.max(oldest, sim.healedAt) + FOUND_WITHIN_MS)
    throw new Violation('L1', `transfer ${first.key} on ${chain.id} is looked for by nobody`)
  const cursor = cursorOf(sim, chain.id)
  const open = new Set(
    sim.store.documents('invoices').flatMap((row) => (WAITING.has(String(row['status'])) ? String(row['_id']) : [])),
  )
  if (cursor?.looks == null || missing.some(({ invoiceId }) => open.has(invoiceId))) return now
  const { ended, all, week } = cursor.looks
  const due = [ended.at.getTime() + HOUR_MS, all.at.getTime() + 24 * HOUR_MS, week.at.getTime() + 7 * 24 * HOUR_MS]
  return Math.max(now, Math.min(...due))
}

/**
 * Whether a person was told of at least this money at a derived address, which looks could not place: nodes had dropped the states, and the
 * blocks were more than a day's budget. Of an address of a list the inbox says only that coins inside of calls are not seen.
 */
export function isInInbox(sim: Sim, chain: SimChain, txHash: string, key: string): boolean {
  if (sim.scanPlans.get(chain.id)?.isPruned !== true) return false
  const tx = chain.sent.get(txHash)
  const transfer = tx?.transfers.find((one) => one.key === key)
  const isListed = sim.store
    .documents('addresses')
    .some((row) => row['matchKey'] === transfer?.matchKey && row['heldBy'] !== undefined)
  const opened = sim.store.documents('exceptions').map((row) => String(row['_id']))
  // What an owner does at an address of a list is not known, so no sum shows what came in inside of a call.
  if (isListed && tx?.hidden === true) return opened.includes(`unexplained_balance:${chain.id}:looks_not_compared`)
  const id = `unexplained_balance:${chain.id}:${transfer?.matchKey}:${transfer?.asset}:`
  // What left the account is missing in its balance.
  const left = [...chain.sent.values()].flatMap(({ outflow }) =>
    outflow?.matchKey === transfer?.matchKey && outflow?.asset === transfer?.asset ? [outflow?.amountBase ?? 0n] : [],
  )
  const leftBase = left.reduce((sum, amountBase) => sum + amountBase, 0n)
  return opened.some((name) => {
    if (!name.startsWith(id) || transfer === undefined) return false
    const rest = name.slice(id.length)
    return rest === 'unread' || (/^\d+$/.test(rest) && BigInt(rest) + leftBase >= transfer.amountBase)
  })
}

/** Whether a transfer counts: by its key, or because a balance told of it. */
export function isStored(sim: Sim, chain: SimChain, txHash: string, key: string): boolean {
  const rows = sim.store.documents('payments')
  const transfer = chain.sent.get(txHash)?.transfers.find((one) => one.key === key)
  const at = chain.blockOf(txHash)
  return rows.some((row) => {
    if (row['key'] === key) return row['state'] === 'detected' || row['state'] === 'confirmed'
    if (row['txHash'] !== null || row['matchKey'] !== transfer?.matchKey) return false
    const block = row['block'] as PaymentDocument['block'] | undefined
    if (block == null || at == null) return false
    const since = block.rise?.since.height ?? block.height - 1
    return (
      block.hash === at.hash || (at.height <= block.height && at.height > since && transfer?.asset === row['asset'])
    )
  })
}
