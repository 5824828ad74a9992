import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { hasFormerKey } from '#shared/domain/payment/call-move-keys.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Payment, PaymentRepository, PaymentSighting, UnconfirmedFate } from '#shared/ports/payments.ts'
import { type Ambient, type Kicker, QUEUES } from '#shared/ports/runtime.ts'
import type { LedgerTransfer, ScannedBlock } from '#shared/ports/scanning.ts'
import { type AttributeDeps, attributeTransfers, type FoundTransfer } from './attribute-transfers.ts'
import { type TransferBlock, withoutTold } from './drop-balance-duplicates.ts'
import { doubtedPayments, type SecondOpinion } from './unconfirmed-by-second-node.ts'
import { underStoredKeys } from './under-stored-keys.ts'
import { closeStrays, openStrays, type StrayDeps } from './unmatched-transfers.ts'

/** What storing a scanner's findings needs. */
export interface RecordDeps extends AttributeDeps, Ambient {
  readonly payments: Pick<
    PaymentRepository,
    | 'recordSightings'
    | 'findByKeys'
    | 'attributedAmong'
    | 'listByKeyPrefix'
    | 'listByInvoice'
    | 'dueForConfirmation'
    | 'confirmThrough'
    | 'orphanAbove'
    | 'orphanStrangers'
    | 'orphanRepeats'
    | 'placeFormer'
    | 'unconfirmed'
    | 'endUnconfirmed'
  >
  readonly exceptions: StrayDeps['exceptions']
  readonly wallets: StrayDeps['wallets']
  readonly catalog: Pick<Catalog, 'asset' | 'confirmations' | 'needsFinality' | 'knowsFinality'>
  readonly kicker: Kicker
}

/** A scanned block; what balances told of is among its transfers. */
export type FoundBlock = TransferBlock & Pick<ScannedBlock, 'spent' | 'agesMs'>

/** Scanned blocks under a scanner's lease. */
export interface RecordInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly blocks: readonly FoundBlock[]
  /** Height from which everything up to the last block was read; that of the first block when heights have no gaps. */
  readonly from?: number
  /** Unconfirmed payments of the network whose outpoints were asked for; a block that spends one otherwise ends it. */
  readonly unconfirmed?: readonly Payment[]
  /** When the whole mempool was last looked through: what was unconfirmed before is stored. */
  readonly mempoolAt?: Ms
  /** Take back confirmed payments as well whose block is not among these: the cursor was moved back below them. */
  readonly confirmedToo?: boolean
  /** Epoch of the lease; an older one than the stored is refused with `ScannerFenced`. */
  readonly epoch: number
}

/**
 * Stores the transfers of scanned blocks as payments, opens exceptions for money nobody asked for, and wakes the
 * invoices that changed. Everything is durable when it resolves, so the caller moves its cursor afterwards; repeating
 * it changes nothing, and when other blocks stand at these heights by then, it takes back what only the first ones held.
 * Throws `ScannerFenced` when a newer lease holder wrote already. Returns the changed payments.
 */
export async function recordBlockTransfers(deps: RecordDeps, input: RecordInput): Promise<readonly Payment[]> {
  const { unconfirmed = [] } = input
  const now = deps.clock.now()
  const untold = await withoutTold(deps, input, input.blocks)
  const found = untold.flatMap(({ height, hash, time, transfers, agesMs }) =>
    transfers.map((transfer) => {
      const knownSince = seenSince(transfer, now, { agesMs, mempoolAt: input.mempoolAt })
      const block = { height, hash, time, ...(transfer.rise !== undefined && { rise: transfer.rise }) }
      // Blocks may carry times in the future (Bitcoin: two hours); nothing is seen before it is there.
      return { transfer, block, seenAt: Math.min(time, knownSince, inheritedSight(transfer, unconfirmed)) }
    }),
  )
  const { mode, network, epoch, from, blocks, confirmedToo = false } = input
  const spent = new Map(blocks.flatMap((block) => [...(block.spent ?? [])]))
  const fates = replacedBy(unconfirmed, spent)
  const changed = await recordFindings(deps, { mode, network, epoch }, { found, fates, confirmedToo })
  const at = deps.clock.now()
  const strangers = { mode, network, epoch, blocks, confirmedToo, at, ...(from !== undefined && { from }) }
  const orphaned = await deps.payments.orphanStrangers(strangers)
  await closeStrays(deps, orphaned)
  report(deps, input.network, 'orphaned', orphaned)
  return [...changed, ...orphaned]
}

/**
 * When a transfer was first there as far as its node can say: its transaction may have waited in the mempool before anybody
 * looked at it. Never before the last look at the whole mempool, which did not show it, and never in the future.
 */
export function seenSince(
  { txHash }: Pick<LedgerTransfer, 'txHash'>,
  now: Ms,
  {
    agesMs,
    mempoolAt = now,
  }: { readonly agesMs: ReadonlyMap<string, number> | undefined; readonly mempoolAt: Ms | undefined },
): Ms {
  const ageMs = txHash === null ? 0 : (agesMs?.get(txHash) ?? 0)
  return Math.min(now, Math.max(mempoolAt, now - Math.max(0, ageMs)))
}

/** What one look at a chain brought. */
export interface Findings {
  readonly found: readonly FoundTransfer[]
  /** Unconfirmed payments that ended. */
  readonly fates: readonly UnconfirmedFate[]
  /** Take back confirmed payments as well that repeat another one. */
  readonly confirmedToo?: boolean
}

/**
 * Ends unconfirmed payments, stores found transfers as payments with their exceptions, then wakes the invoices: a payment and
 * the one that replaces it are never counted together, and no invoice is woken between the two. Returns the changed payments.
 */
export async function recordFindings(
  deps: RecordDeps,
  position: ChainPosition,
  { found, fates, confirmedToo = false }: Findings,
): Promise<readonly Payment[]> {
  const { mode, network, epoch } = position
  const at = deps.clock.now()
  const ended = fates.length === 0 ? [] : await deps.payments.endUnconfirmed({ mode, network, epoch, fates, at })
  const attributed = found.length === 0 ? [] : await attributeTransfers(deps, { mode, network, found })
  const transfers = found.map(({ transfer }) => transfer)
  const stored = await underStoredKeys(deps, { mode, network }, transfers, await inheritEnded(deps, attributed))
  const { sightings, repeats } = stored
  await deps.payments.placeFormer(stored.places)
  const repeated = await deps.payments.orphanRepeats({ mode, network, keys: repeats, confirmedToo, epoch, at })
  const recorded = sightings.length === 0 ? [] : await deps.payments.recordSightings(sightings, epoch, at)
  await closeStrays(deps, [...ended, ...repeated, ...recorded])
  await openStrays(deps, sightings)
  report(deps, network, 'ended', ended)
  report(deps, network, 'orphaned', repeated)
  report(deps, network, 'recorded', recorded)
  return [...ended, ...repeated, ...recorded]
}

/** The payments whose outpoints another transaction spends. */
export function replacedBy(
  unconfirmed: readonly Payment[],
  spent: ReadonlyMap<string, string>,
): readonly UnconfirmedFate[] {
  if (spent.size === 0) return []
  return unconfirmed.flatMap(({ key, spends, txHash }) => {
    const spender = spends.map((outpoint) => spent.get(outpoint)).find((id) => id !== undefined && id !== txHash)
    return spender === undefined ? [] : [{ key, state: 'replaced' as const, replacedBy: spender }]
  })
}

/**
 * When the money behind a transfer was first seen: a transaction that replaces another one and pays the same script is the
 * same payment to its payer. Infinity when it replaces none.
 */
export function inheritedSight(
  transfer: Pick<LedgerTransfer, 'matchKey' | 'spends'>,
  unconfirmed: readonly Payment[],
): number {
  const spends = new Set(transfer.spends)
  if (spends.size === 0) return Number.POSITIVE_INFINITY
  const replaced = unconfirmed.filter(
    (payment) => payment.matchKey === transfer.matchKey && payment.spends.some((outpoint) => spends.has(outpoint)),
  )
  return Math.min(Number.POSITIVE_INFINITY, ...replaced.map((payment) => payment.firstSeenAt))
}

/** What was replaced is `unconfirmed` no more once that is stored: after a failure its time is found with its invoice. */
async function inheritEnded(
  { payments }: Pick<RecordDeps, 'payments'>,
  sightings: readonly PaymentSighting[],
): Promise<readonly PaymentSighting[]> {
  const spending = sightings.filter(({ spends }) => spends.length > 0)
  if (spending.length === 0) return sightings
  const stored = await payments.attributedAmong(spending.map(({ key }) => key))
  const fresh = spending.filter(({ key }) => !stored.has(key))
  const invoices = new Set(fresh.flatMap(({ invoiceId }) => (invoiceId === null ? [] : [invoiceId])))
  const earlier = (await Promise.all([...invoices].map((id) => payments.listByInvoice(id)))).flat()
  return sightings.map((sighting) => ({
    ...sighting,
    firstSeenAt: Math.min(sighting.firstSeenAt, inheritedSight(sighting, earlier)),
  }))
}

/** Where a scanner stands. */
export interface ChainPosition {
  readonly mode: Mode
  readonly network: NetworkId
  readonly epoch: number
}

/** Where the chain stands, and who else can say what is in its blocks. */
export interface ConfirmInput extends ChainPosition {
  /** Height of the committed cursor. */
  readonly height: number
  /** Final as the chain itself says; null where it does not. */
  readonly finalizedHeight: number | null
  readonly client?: SecondOpinion
  /** Reads due payments again that a former version stored under keys of its own; gives the keys of those that must wait. */
  readonly settleFormer?: (due: readonly Payment[]) => Promise<readonly string[]>
  /** Told how many due payments wait because no second node vouches for them, when there are any. */
  readonly noteDoubted?: (payments: number) => void
}

/**
 * Confirms what has enough blocks on top as of the committed cursor `height`, takes back what stands in a block that the
 * cursor does not know, and wakes the invoices. What a second node does not show in the same block waits. Returns what changed.
 */
export async function confirmPayments(
  deps: Pick<RecordDeps, 'payments' | 'exceptions' | 'kicker' | 'clock' | 'metrics' | 'logger'>,
  input: ConfirmInput,
): Promise<readonly Payment[]> {
  const { client, noteDoubted, settleFormer, ...scope } = input
  const isAsked = client !== undefined || settleFormer !== undefined
  const due = isAsked ? await deps.payments.dueForConfirmation(scope) : []
  const former = due.filter((payment) => payment.currentKey === undefined && hasFormerKey(payment))
  const unsettled = former.length === 0 ? [] : ((await settleFormer?.(former)) ?? [])
  const settled = former.length === 0 ? due : await deps.payments.dueForConfirmation(scope)
  const doubted = client === undefined ? [] : await doubtedKeys(deps, scope, client, settled)
  if (doubted.length > 0) noteDoubted?.(doubted.length)
  const except = [...unsettled, ...doubted]
  const changed = await deps.payments.confirmThrough({ ...scope, except, at: deps.clock.now() })
  const orphaned = changed.filter((payment) => payment.state === 'orphaned')
  await closeStrays(deps, orphaned)
  report(
    deps,
    input.network,
    'confirmed',
    changed.filter((payment) => payment.state !== 'orphaned'),
  )
  report(deps, input.network, 'orphaned', orphaned)
  return changed
}

/** Keys of due payments that a second node does not vouch for; all of them when it does not answer. */
async function doubtedKeys(
  deps: Pick<RecordDeps, 'metrics' | 'logger'>,
  scope: Pick<ConfirmInput, 'mode' | 'network'>,
  client: SecondOpinion,
  due: readonly Payment[],
): Promise<readonly string[]> {
  const keys = due.length === 0 ? [] : await doubtedPayments(client, due)
  if (keys.length > 0) {
    deps.metrics.count('scanner_doubted_total', { network: scope.network }, keys.length)
    deps.logger.warn(
      { network: scope.network, mode: scope.mode, payments: keys.length },
      'no second node confirms these',
    )
  }
  return keys
}

/** Takes back what stood in blocks above `forkHeight`, and wakes the invoices. Returns what changed. */
export async function orphanPayments(
  deps: Pick<RecordDeps, 'payments' | 'exceptions' | 'kicker' | 'clock' | 'metrics'>,
  input: ChainPosition & { readonly forkHeight: number; readonly unconfirmedOnly?: boolean },
): Promise<readonly Payment[]> {
  const changed = await deps.payments.orphanAbove({ ...input, at: deps.clock.now() })
  await closeStrays(deps, changed)
  report(deps, input.network, 'orphaned', changed)
  return changed
}

function report(
  deps: Pick<RecordDeps, 'kicker' | 'metrics'>,
  network: NetworkId,
  what: 'recorded' | 'confirmed' | 'orphaned' | 'ended',
  changed: readonly Payment[],
): void {
  if (changed.length === 0) return
  deps.metrics.count(`payments_${what}_total`, { network }, changed.length)
  const invoices = new Set(changed.flatMap((payment) => (payment.invoiceId === null ? [] : [payment.invoiceId])))
  for (const invoiceId of invoices) deps.kicker.kick(QUEUES.invoiceTransitions, invoiceId)
}
