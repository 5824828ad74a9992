import type { Payment, UnconfirmedFate } from './ports/payments.ts'
import { inheritedSight, recordFindings, replacedBy } from './record-payments.ts'
import { assertHeld, moveCursor, type ScanSession, writeScope } from './scan-session.ts'

/** A cursor that is moved for the mempool alone is moved at most this often. */
const MARK_EVERY_MS = 1_000

/** The network's unconfirmed payments; none where unconfirmed transactions cannot be seen. */
export async function unconfirmedOf({ deps, source }: ScanSession): Promise<readonly Payment[]> {
  return source.client.mempool === undefined ? [] : deps.payments.unconfirmed(source.mode, source.network)
}

/** Every outpoint that these payments spend. */
export function outpointsOf(payments: readonly Payment[]): ReadonlySet<string> {
  return new Set(payments.flatMap((payment) => payment.spends))
}

/**
 * Looks at the unconfirmed transactions while the cursor stands at the node's head: stores new payments, ends those that
 * another transaction replaced, and those that the node has not had for `dropAfterMs`. A view taken while a block came in
 * says nothing about what is missing, so it is only used when the head is the same afterwards.
 *
 * | payment, in no block | in the view | its outpoint is spent by another | becomes |
 * |---|---|---|---|
 * | yes | yes | no | stays `detected` |
 * | yes | no | yes | `replaced`; seen again it is `detected` |
 * | yes | no, for less than the grace | no | stays `detected` |
 * | yes | no, for the grace | no | `dropped`; seen again it is `detected` |
 */
export async function scanMempool(session: ScanSession): Promise<void> {
  const { deps, source, index } = session
  if (source.client.mempool === undefined) return
  const known = await unconfirmedOf(session)
  const startedAt = deps.clock.now()
  const view = await source.client.mempool(index, outpointsOf(known))
  const head = await source.client.head()
  if (head.hash !== session.cursor.hash) return
  assertHeld(session)
  const knownKeys = new Set(known.map((payment) => payment.key))
  const fresh = view.transfers.filter((transfer) => !knownKeys.has(transfer.key))
  const found = fresh.map((transfer) => ({
    transfer,
    block: null,
    seenAt: Math.min(startedAt, inheritedSight(transfer, known)),
  }))
  const gone = known.filter(({ txHash }) => txHash === null || !view.txids.has(txHash))
  const replaced = replacedBy(gone, view.spent)
  const replacedKeys = new Set(replaced.map(({ key }) => key))
  const missing = gone.filter(({ key }) => !replacedKeys.has(key))
  await recordFindings(deps, writeScope(session), { found, fates: [...replaced, ...dropped(session, missing)] })
  // What was not looked at may hold a payment in time: no deadline may pass because of this view.
  if (view.partial === true) return
  if (startedAt - (session.cursor.mempoolAt ?? 0) >= MARK_EVERY_MS) await moveCursor(session, { mempoolAt: startedAt })
}

function dropped({ deps, source, missingSince }: ScanSession, missing: readonly Payment[]): readonly UnconfirmedFate[] {
  const now = deps.clock.now()
  const keys = new Set(missing.map(({ key }) => key))
  for (const key of missingSince.keys()) if (!keys.has(key)) missingSince.delete(key)
  return missing.flatMap(({ key }): UnconfirmedFate[] => {
    const since = missingSince.get(key)
    if (since === undefined) missingSince.set(key, now)
    return since !== undefined && now - since >= source.dropAfterMs ? [{ key, state: 'dropped' }] : []
  })
}
