import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ObservedTransfer, Payment, UnconfirmedOutcome } from '#shared/ports/payments.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { LedgerTransfer, ScannedBlock, TransferBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type AttributeDeps, attributeTransfers, type FoundTransfer } from './attribute-transfers.ts'
import { disputedPayments, type SecondOpinion } from './disputed-payments.ts'
import { firstSeenOfReplaced } from './first-seen-of-replaced.ts'
import { closeUnmatched, openUnmatched } from './unmatched-transfers.ts'

/** Ended payments of an invoice in which the start of a new one is looked up: of more, the newest. */
const ENDED_MAX = 100

/** Dependencies of storing a scanner's findings. */
export type RecordDeps = AttributeDeps & Runtime & Uses<'payments' | 'exceptions' | 'wallets' | 'catalog' | 'notifier'>

/** A scanned block; its transfers include those detected from balances. */
type FoundBlock = TransferBlock & Pick<ScannedBlock, 'spent' | 'agesMs'>

/** Scanned blocks under a scanner's lease. */
export interface RecordInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly blocks: readonly FoundBlock[]
  /** Height from which everything up to the last block was read; that of the first block when heights have no gaps. */
  readonly from?: number
  /** Unconfirmed payments of the network whose outpoints were read; a block that spends one in another transaction ends it. */
  readonly unconfirmed?: readonly Payment[]
  /** Time of the last complete mempool reading: what was unconfirmed before is stored. */
  readonly mempoolAt?: Ms
  /** Orphan confirmed payments as well if their block is not among these: the cursor was moved back below them. */
  readonly confirmedToo?: boolean
  /** Epoch of the lease; an older one than the stored is refused with `ScannerFenced`. */
  readonly epoch: number
}

/**
 * Stores the transfers of scanned blocks as payments, opens exceptions for unmatched money, and wakes the
 * invoices that changed. Everything is durable when it resolves, so the caller moves its cursor afterwards; repeating
 * it changes nothing, and if other blocks are at these heights by then, it orphans the payments that only the first ones contained.
 * Throws `ScannerFenced` when a newer lease holder has already written. Returns the changed payments.
 */
export async function recordBlockTransfers(deps: RecordDeps, input: RecordInput): Promise<readonly Payment[]> {
  const { unconfirmed = [] } = input
  const now = deps.clock.now()
  const inheritedFirstSeen = firstSeenOfReplaced(
    unconfirmed,
    input.blocks.flatMap(({ transfers }) => transfers),
  )
  const found = input.blocks.flatMap(({ height, hash, time, transfers, agesMs }) =>
    transfers.map((transfer) => {
      const known = seenSince(transfer, now, { agesMs, mempoolAt: input.mempoolAt })
      const block = { height, hash, time, ...(transfer.increase !== undefined && { increase: transfer.increase }) }
      // Blocks may carry times in the future (Bitcoin: two hours); a payment is never first seen in the future.
      const seen = atMost(known, Math.min(time, inheritedFirstSeen(transfer)))
      // What may have come in time did.
      return { transfer, block, ...seen, seenAt: Math.min(seen.seenAt, transfer.from ?? time) }
    }),
  )
  const { mode, network, epoch, from, blocks, confirmedToo = false } = input
  const spent = new Map(blocks.flatMap((block) => [...(block.spent ?? [])]))
  const outcomes = replacedBy(unconfirmed, spent)
  const changed = await recordFindings(deps, { mode, network, epoch }, { found, outcomes })
  const at = deps.clock.now()
  const strangers = { mode, network, epoch, blocks, confirmedToo, at, ...(from !== undefined && { from }) }
  const orphaned = await deps.payments.orphanMissing(strangers)
  await closeUnmatched(deps, orphaned)
  report(deps, input.network, 'orphaned', orphaned)
  return [...changed, ...orphaned]
}

/** When a transfer first appeared, in Unix milliseconds: at `seenAt`, or up to `seenBy` where the age that its node states is refuted. */
export type SeenTimes = Required<Pick<FoundTransfer, 'seenAt' | 'seenBy'>>

/**
 * When a transfer first appeared, as far as its node can tell: its transaction may have waited in the mempool before the
 * scanner read it. Never before the last complete mempool reading, which did not contain it, and never in the future. A node that states an earlier
 * time has a wrong clock, or another mempool than the node of that reading: the transfer may have come at any time since.
 */
export function seenSince(
  { txHash }: Pick<LedgerTransfer, 'txHash'>,
  now: Ms,
  {
    agesMs,
    mempoolAt = now,
  }: { readonly agesMs: ReadonlyMap<string, number> | undefined; readonly mempoolAt: Ms | undefined },
): SeenTimes {
  const ageMs = txHash === null ? 0 : (agesMs?.get(txHash) ?? 0)
  const stated = now - Math.max(0, ageMs)
  const seenAt = Math.min(now, Math.max(mempoolAt, stated))
  return { seenAt, seenBy: stated < mempoolAt ? now : seenAt }
}

/** The same, if the transfer is known to have been there at a time. */
export function atMost({ seenAt, seenBy }: SeenTimes, time: Ms): SeenTimes {
  return { seenAt: Math.min(seenAt, time), seenBy: Math.min(seenBy, time) }
}

/** Results of one poll of a chain. */
interface Findings {
  readonly found: readonly FoundTransfer[]
  /** Unconfirmed payments that ended. */
  readonly outcomes: readonly UnconfirmedOutcome[]
}

/**
 * Ends unconfirmed payments, stores found transfers as payments with their exceptions, then wakes the invoices: a payment and
 * its replacement are never counted together, and no invoice is woken between the two. Returns the changed payments.
 */
export async function recordFindings(
  deps: RecordDeps,
  position: ChainPosition,
  { found, outcomes }: Findings,
): Promise<readonly Payment[]> {
  const { mode, network, epoch } = position
  const at = deps.clock.now()
  const ended = outcomes.length === 0 ? [] : await deps.payments.endUnconfirmed({ mode, network, epoch, outcomes, at })
  const attributed = found.length === 0 ? [] : await attributeTransfers(deps, { mode, network, found })
  const observations = await inheritEnded(deps, position, attributed)
  const recorded =
    observations.length === 0 ? [] : await deps.payments.recordObservations(spendsOnce(observations), epoch, at)
  await closeUnmatched(deps, [...ended, ...recorded])
  await openUnmatched(deps, observations)
  report(deps, network, 'ended', ended)
  report(deps, network, 'recorded', recorded)
  return [...ended, ...recorded]
}

/**
 * The outpoints of a transaction are stored with the first of its payments: their number times the number of its outputs is a stranger's
 * choice. Readers find those of its other payments by its id.
 */
function spendsOnce(observations: readonly ObservedTransfer[]): readonly ObservedTransfer[] {
  const named = new Set<string>()
  return observations.map((observation) => {
    const { txHash, spends } = observation
    if (txHash === null || spends.length === 0) return observation
    const isNamed = named.has(txHash)
    named.add(txHash)
    return isNamed ? { ...observation, spends: [] } : observation
  })
}

/** The payments of transactions whose outpoints another transaction spends. */
export function replacedBy(
  unconfirmed: readonly Payment[],
  spent: ReadonlyMap<string, string>,
): readonly UnconfirmedOutcome[] {
  if (spent.size === 0) return []
  const spenders = new Map<string | null, string>()
  for (const { spends, txHash } of unconfirmed) {
    const spender = spends.map((outpoint) => spent.get(outpoint)).find((id) => id !== undefined && id !== txHash)
    if (spender !== undefined) spenders.set(txHash, spender)
  }
  return unconfirmed.flatMap(({ key, txHash }) => {
    const spender = spenders.get(txHash)
    return spender === undefined ? [] : [{ key, state: 'replaced' as const, replacedBy: spender }]
  })
}

/** Once stored, a replaced payment is no longer unconfirmed, so after a crash its first-seen time comes from the invoice's ended payments. */
async function inheritEnded(
  { payments }: Pick<RecordDeps, 'payments'>,
  { mode, network }: ChainPosition,
  observations: readonly ObservedTransfer[],
): Promise<readonly ObservedTransfer[]> {
  const spending = observations.filter(({ spends }) => spends.length > 0)
  if (spending.length === 0) return observations
  const stored = await payments.attributedAmong(spending.map(({ key }) => key))
  const fresh = spending.filter(({ key }) => !stored.has(key))
  const invoices = new Set(fresh.flatMap(({ invoiceId }) => (invoiceId === null ? [] : [invoiceId])))
  const ended = (await Promise.all([...invoices].map((id) => payments.listEnded(id, ENDED_MAX)))).flat()
  const bare = new Set(ended.flatMap(({ txHash, spends }) => (txHash === null || spends.length > 0 ? [] : [txHash])))
  const whole = await Promise.all([...bare].map((txHash) => payments.listByTransaction(mode, network, txHash)))
  const earlier = new Map([...ended, ...whole.flat()].map((payment) => [payment.key, payment]))
  const inheritedFirstSeen = firstSeenOfReplaced([...earlier.values()], observations)
  return observations.map((observation) => ({
    ...observation,
    firstSeenAt: Math.min(observation.firstSeenAt, inheritedFirstSeen(observation)),
  }))
}

/** Position of a scanner. */
interface ChainPosition {
  readonly mode: Mode
  readonly network: NetworkId
  readonly epoch: number
}

/** Position of the chain, and the sources that can confirm what its blocks contain. */
interface ConfirmInput extends ChainPosition {
  /** Height of the committed cursor. */
  readonly height: number
  /** Finalized height as the chain reports it; null where it does not. */
  readonly finalizedHeight: number | null
  readonly client?: SecondOpinion
  /** The node's block at a height, and the hashes by height in the cursor: payments below them are looked up. */
  readonly chain?: { readonly blockAt: ChainClient['blockAt']; readonly window: ReadonlyMap<number, string> }
  /** Called with the number of due payments that wait because no second node confirms them, if there are any. */
  readonly auditDisputed?: (payments: number) => void
  /** When nodes last could not confirm the payments that wait, by key; changed here. Without it they are queried in every call. */
  readonly doubts?: Map<string, Ms>
}

/** Dust that nodes are asked about in one turn, the newest first: its number is a stranger's choice, and it settles nothing. */
const DUST_MAX = 32
/** A payment that waits longer than this … */
const DOUBT_FRESH_MS = 3_600_000
/** … costs its questions this seldom: no node may have its block any more, and one poll comes each few seconds. */
const DOUBT_EVERY_MS = 300_000

/**
 * Confirms payments with enough blocks on top as of the committed cursor `height`, orphans payments whose block is not on the
 * cursor's chain, and wakes the invoices. A payment that a second node does not show in the same block waits. Returns the changed payments.
 */
export async function confirmPayments(
  deps: Pick<RecordDeps, 'payments' | 'exceptions' | 'notifier' | 'clock' | 'metrics' | 'logger' | 'catalog'>,
  input: ConfirmInput,
): Promise<readonly Payment[]> {
  const { client, auditDisputed, chain, doubts = new Map<string, Ms>(), ...scope } = input
  const isChecked = client !== undefined || chain !== undefined
  const buried = isChecked ? await deps.payments.dueForConfirmation(scope) : []
  // Almost always, and the question comes with every block: the same one is not put twice.
  if (isChecked && buried.length === 0) return []
  const now = deps.clock.now()
  const isResting = ({ key, firstSeenAt }: Payment): boolean =>
    now - firstSeenAt > DOUBT_FRESH_MS && Math.abs(now - (doubts.get(key) ?? 0)) < DOUBT_EVERY_MS
  const resting = new Set(buried.filter(isResting).map(({ key }) => key))
  const { worth, dust, left } = portionOf(
    deps.catalog,
    buried.filter(({ key }) => !resting.has(key)),
    client?.disputed === undefined ? Number.POSITIVE_INFINITY : DUST_MAX,
  )
  const due = [...worth, ...dust]
  const disputed: string[] = []
  // Apart: nodes are asked block by block, and what a limited node does not get through holds up its block.
  if (client !== undefined) {
    for (const some of [worth, dust]) disputed.push(...(await disputedKeys(deps, scope, client, some)))
  }
  if (disputed.length + resting.size > 0) auditDisputed?.(disputed.length + resting.size)
  const forgotten =
    chain === undefined ? { orphaned: [], waiting: [] } : await checkForgottenBlocks(deps, scope, { due, ...chain })
  const doubted = [...disputed, ...forgotten.waiting]
  const except = [...doubted, ...resting, ...left.map(({ key }) => key)]
  const waiting = new Set(except)
  for (const key of doubts.keys()) if (!waiting.has(key)) doubts.delete(key)
  for (const key of doubted) doubts.set(key, now)
  const moved = await deps.payments.confirmThrough({ ...scope, except, at: deps.clock.now() })
  const changed = [...forgotten.orphaned, ...moved]
  const orphaned = changed.filter((payment) => payment.state === 'orphaned')
  await closeUnmatched(deps, orphaned)
  report(
    deps,
    input.network,
    'confirmed',
    changed.filter((payment) => payment.state !== 'orphaned'),
  )
  report(deps, input.network, 'orphaned', orphaned)
  return changed
}

/** What is checked in this turn, and the dust that is left to the next ones. */
function portionOf(catalog: RecordDeps['catalog'], due: readonly Payment[], dustMax: number) {
  const isDust = ({ asset, amountBase }: Payment) => asset === null || amountBase < catalog.asset(asset).dustBase
  const newestFirst = (one: Payment, other: Payment) => (other.block?.height ?? 0) - (one.block?.height ?? 0)
  const dust = due.filter(isDust).sort(newestFirst)
  return { worth: due.filter((one) => !isDust(one)), dust: dust.slice(0, dustMax), left: dust.slice(dustMax) }
}

/** Keys of due payments that a second node does not confirm; all of them when it does not respond. */
async function disputedKeys(
  deps: Pick<RecordDeps, 'payments' | 'metrics' | 'logger'>,
  scope: Pick<ConfirmInput, 'mode' | 'network'>,
  client: SecondOpinion,
  due: readonly Payment[],
): Promise<readonly string[]> {
  const keys = due.length === 0 ? [] : await disputedPayments(deps, client, due)
  if (keys.length > 0) {
    deps.metrics.count('scanner_unconfirmed_by_second_node_total', { network: scope.network }, keys.length)
    deps.logger.warn(
      { network: scope.network, mode: scope.mode, payments: keys.length },
      'no second node confirms these',
    )
  }
  return keys
}

/** Orphans the payments of blocks above `forkHeight`, and wakes the invoices. Returns the changed payments. */
export async function orphanPayments(
  deps: Pick<RecordDeps, 'payments' | 'exceptions' | 'notifier' | 'clock' | 'metrics'>,
  input: ChainPosition & { readonly forkHeight: number; readonly unconfirmedOnly?: boolean },
): Promise<readonly Payment[]> {
  const changed = await deps.payments.orphanAbove({ ...input, at: deps.clock.now() })
  await closeUnmatched(deps, changed)
  report(deps, input.network, 'orphaned', changed)
  return changed
}

function report(
  deps: Pick<RecordDeps, 'notifier' | 'metrics'>,
  network: NetworkId,
  what: 'recorded' | 'confirmed' | 'orphaned' | 'ended',
  changed: readonly Payment[],
): void {
  if (changed.length === 0) return
  deps.metrics.count(`payments_${what}_total`, { network }, changed.length)
  const invoices = new Set(changed.flatMap((payment) => (payment.invoiceId === null ? [] : [payment.invoiceId])))
  for (const invoiceId of invoices) deps.notifier.notify(QUEUES.invoiceTransitions, invoiceId)
}

/**
 * Requests from the node the blocks of due payments below the cursor's history. The cursor stores the hashes of its newest
 * blocks; a scanner paused for long may store a payment of an abandoned block below them, and no fence refuses an insert.
 * Orphans payments of another branch; `waiting` are the keys of those whose block the node does not return now.
 */
async function checkForgottenBlocks(
  deps: Uses<'payments' | 'clock'>,
  scope: { readonly mode: Mode; readonly network: NetworkId; readonly epoch: number },
  {
    due,
    window,
    blockAt,
  }: {
    readonly due: readonly Payment[]
    readonly window: ReadonlyMap<number, string>
    readonly blockAt: ChainClient['blockAt']
  },
): Promise<{ readonly orphaned: readonly Payment[]; readonly waiting: readonly string[] }> {
  const forgotten = due.flatMap(({ key, block }) =>
    block === null || window.has(block.height) ? [] : [{ key, block }],
  )
  const orphaned: Payment[] = []
  const waiting: string[] = []
  for (const height of new Set(forgotten.map(({ block }) => block.height))) {
    const here = forgotten.filter(({ block }) => block.height === height)
    const hash = await hashAt(blockAt, height)
    if (hash === null) waiting.push(...here.map(({ key }) => key))
    else if (here.some(({ block }) => block.hash !== hash)) {
      const { mode, network, epoch } = scope
      const blocks = [{ height, hash }]
      orphaned.push(...(await deps.payments.orphanMissing({ mode, network, epoch, blocks, at: deps.clock.now() })))
    }
  }
  return { orphaned, waiting }
}

/** Null when the node does not return the block: an unclear response confirms nothing. */
async function hashAt(blockAt: ChainClient['blockAt'], height: number): Promise<string | null> {
  try {
    return (await blockAt(height))?.hash ?? null
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return null
  }
}
