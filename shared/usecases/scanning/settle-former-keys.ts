import { placeFormerKeys, stemOf } from '#shared/domain/payment/call-move-keys.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { recordFindings } from '#shared/usecases/payments/record-payments.ts'
import { assertHeld, type ScanSession, writeScope } from './scan-session.ts'

/**
 * Reads the blocks of payments again that a former version stored under other keys, before they confirm: that version
 * may have stored one transfer under two keys, or one that this version had stored already. Each gets its current key, and
 * duplicates are orphaned. Returns the keys of those that must wait: their block cannot be read now, or the
 * node shows none of several equal transfers.
 */
export async function settleFormerKeys(session: ScanSession, due: readonly Payment[]): Promise<readonly string[]> {
  const heights = new Set(due.flatMap(({ block }) => block?.height ?? []))
  for (const height of heights) await readAgain(session, height, due)
  const { payments } = session.deps
  const stored = await payments.findByKeys(due.map(({ key }) => key))
  const open = stored.filter(({ state, currentKey }) => state === 'detected' && currentKey === undefined)
  const waiting = await Promise.all(
    open.map(async (payment) => ((await placeLone(session, payment)) ? [] : [payment.key])),
  )
  return waiting.flat()
}

async function readAgain(session: ScanSession, height: number, due: readonly Payment[]): Promise<void> {
  const { source, deps } = session
  const asked = due.filter(({ block }) => block?.height === height)
  const index = source.createIndex()
  for (const { matchKey } of asked) index.add(matchKey)
  const block = await blockAt(session, height, index)
  if (block === null) return
  const ids = new Set(asked.flatMap(({ txHash, block: at }) => (at?.hash === block.hash ? (txHash ?? []) : [])))
  const { hash, time } = block
  const found = block.transfers
    .filter(({ txHash, mayHaveFormerKey }) => mayHaveFormerKey === true && ids.has(txHash))
    .map((transfer) => ({ transfer, block: { height, hash, time }, seenAt: Math.min(time, deps.clock.now()) }))
  assertHeld(session)
  await recordFindings(deps, writeScope(session), { found, outcomes: [] })
}

/** Null when no node can return it now. */
async function blockAt(
  { source }: ScanSession,
  height: number,
  index: ReturnType<ScanSession['source']['createIndex']>,
): Promise<ScannedBlock | null> {
  try {
    const blocks = await source.client.scan(height, height, index)
    return blocks.find((block) => block.height === height) ?? null
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return null
  }
}

/** A node that records no such transfers cannot add to the stored payment; a payment without equals duplicates none. */
async function placeLone({ deps, source }: ScanSession, payment: Payment): Promise<boolean> {
  const { mode, network } = source
  const rows = await deps.payments.listByKeyPrefix(`${mode}:${network}:${payment.txHash}`)
  const places = placeFormerKeys(rows)
  const stem = stemOf(places.get(payment.key) ?? '')
  const isLive = ({ state }: Payment) => state === 'detected' || state === 'confirmed'
  const equals = rows.filter((row) => isLive(row) && stemOf(places.get(row.key) ?? row.key) === stem)
  const currentKey = places.get(payment.key)
  if (equals.length !== 1 || currentKey === undefined) return false
  await deps.payments.placeFormer([{ key: payment.key, currentKey }])
  return true
}
