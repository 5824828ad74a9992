import type { Payment, UnconfirmedOutcome } from '#shared/ports/payments.ts'
import type { MempoolView } from '#shared/ports/scanned-blocks.ts'
import { firstSeenOfReplaced } from '#shared/usecases/payments/first-seen-of-replaced.ts'
import { atMost, recordFindings, replacedBy, seenSince } from '#shared/usecases/payments/record-payments.ts'
import { showWaiting } from './scan-reorg.ts'
import { assertHeld, moveCursor, type ScanSession, writeScope } from './scan-session.ts'

/** A cursor update for the mempool alone is written at most this often. */
const MARK_EVERY_MS = 1_000

/** How long the unconfirmed payments of a session are not read again, milliseconds. */
const REREAD_MS = 600_000

/**
 * The network's unconfirmed payments; none where unconfirmed transactions are not visible. Strangers choose how many there are, so a session reads
 * them once and then follows its own writes: only the holder of the lease writes them.
 */
export async function unconfirmedOf(session: ScanSession): Promise<readonly Payment[]> {
  const { deps, source, unconfirmed } = session
  if (source.client.mempool === undefined) return []
  const sinceMs = deps.clock.now() - (unconfirmed?.readAt ?? 0)
  if (unconfirmed !== undefined && sinceMs >= 0 && sinceMs < REREAD_MS) return [...unconfirmed.payments.values()]
  const readAt = deps.clock.now()
  const found = await deps.payments.unconfirmed(source.mode, source.network)
  session.unconfirmed = { readAt, payments: new Map(found.map((payment) => [payment.key, payment])) }
  return found
}

/** Runs a write of this session that may change unconfirmed payments; after one that failed they are read again. Returns the changed payments. */
export async function recordIn(
  session: ScanSession,
  write: () => Promise<readonly Payment[]>,
): Promise<readonly Payment[]> {
  const { unconfirmed } = session
  session.unconfirmed = undefined
  const changed = await write()
  for (const payment of changed) {
    if (payment.state === 'detected' && payment.block === null) unconfirmed?.payments.set(payment.key, payment)
    else unconfirmed?.payments.delete(payment.key)
  }
  session.unconfirmed = unconfirmed
  return changed
}

/** Every outpoint that these payments spend. */
export function outpointsOf(payments: readonly Payment[]): ReadonlySet<string> {
  return new Set(payments.flatMap((payment) => payment.spends))
}

/**
 * Reads the unconfirmed transactions while the cursor is at the node's head: stores new payments, ends those that
 * another transaction replaced, and those that no node has had for `dropAfterMs`. A view taken while a block arrived
 * is not evidence of missing transactions, so it is only used when the head is the same afterwards.
 *
 * | payment, in no block | in the view | its outpoint is spent by another | becomes |
 * |---|---|---|---|
 * | yes | yes | no | stays `detected` |
 * | yes | no | yes | `replaced`; seen again it is `detected` |
 * | yes | no, and the view is incomplete | no | stays `detected` |
 * | yes | no, for less than the grace | no | stays `detected` |
 * | yes | no, for the grace, but another node has it or may have it | no | stays `detected` |
 * | yes | no, for the grace, and no node has it | no | `dropped`; seen again it is `detected` |
 *
 * A view is incomplete while its node still reloads the mempool that it saved before a restart, or may lack what its network has,
 * which restart the grace, or while some transactions were not read. None of these moves `mempoolAt`, so no deadline takes effect because of it.
 */
export async function scanMempool(session: ScanSession): Promise<void> {
  const { deps, source, index } = session
  if (source.client.mempool === undefined) return
  const known = await unconfirmedOf(session)
  const startedAt = deps.clock.now()
  const view = await source.client.mempool(index, outpointsOf(known))
  const isLoading = view.loading === true
  const unproven = view.unproven ?? null
  const isWhole = !isLoading && view.partial !== true && unproven === null
  const gone = known.filter(({ txHash }) => txHash === null || !view.txids.has(txHash))
  const replaced = replacedBy(gone, view.spent)
  const replacedKeys = new Set(replaced.map(({ key }) => key))
  const missing = gone.filter(({ key }) => !replacedKeys.has(key))
  if (isLoading || unproven !== null) session.missingSince.clear()
  const dropped = isWhole ? await droppedAmong(session, missing) : []
  const head = await source.client.head()
  if (head.hash !== session.cursor.hash) return
  assertHeld(session)
  const findings = { found: freshIn(session, view, known, startedAt), outcomes: [...replaced, ...dropped] }
  if (findings.found.length > 0 || findings.outcomes.length > 0) {
    await recordIn(session, () => recordFindings(deps, writeScope(session), findings))
  }
  await noteReason(session, unproven === null ? (view.unread ?? null) : `Deadlines wait: ${unproven}.`)
  const sinceMarkMs = startedAt - (session.cursor.mempoolAt ?? 0)
  // A mark in the future was made before the clock was set back.
  if (isWhole && (sinceMarkMs >= MARK_EVERY_MS || sinceMarkMs < 0)) await moveCursor(session, { mempoolAt: startedAt })
}

/** Stores why deadlines wait, or what the mempool's readers lack, while they do. */
async function noteReason(session: ScanSession, reason: string | null): Promise<void> {
  if (reason === (session.unprovenReason ?? null)) return
  session.unprovenReason = reason
  await showWaiting(session, session.missedReason ?? reason)
}

/** Transfers of a view that are not stored yet, with the time since which their node has had them. */
function freshIn({ cursor }: ScanSession, view: MempoolView, known: readonly Payment[], startedAt: number) {
  const knownKeys = new Set(known.map((payment) => payment.key))
  const { mempoolAt = cursor.time } = cursor
  const inheritedFirstSeen = firstSeenOfReplaced(known, view.transfers)
  return view.transfers
    .filter((transfer) => !knownKeys.has(transfer.key))
    .map((transfer) => {
      const known = seenSince(transfer, startedAt, { agesMs: view.agesMs, mempoolAt })
      return {
        transfer,
        block: null,
        ...atMost(known, inheritedFirstSeen(transfer)),
      }
    })
}

/** Payments that are missing for the whole grace, and that no other node has either. */
async function droppedAmong(
  { deps, source, missingSince }: ScanSession,
  missing: readonly Payment[],
): Promise<readonly UnconfirmedOutcome[]> {
  const now = deps.clock.now()
  const keys = new Set(missing.map(({ key }) => key))
  for (const key of missingSince.keys()) if (!keys.has(key)) missingSince.delete(key)
  const overdue = missing.filter(({ key }) => {
    const since = missingSince.get(key)
    if (since === undefined) missingSince.set(key, now)
    return since !== undefined && now - since >= source.dropAfterMs
  })
  const txids = [...new Set(overdue.flatMap(({ txHash }) => txHash ?? []))]
  const held = txids.length === 0 ? new Set<string>() : ((await source.client.heldUnconfirmed?.(txids)) ?? new Set())
  return overdue.flatMap(({ key, txHash }): UnconfirmedOutcome[] =>
    txHash !== null && held.has(txHash) ? [] : [{ key, state: 'dropped' }],
  )
}
