import type { AssetId } from '#shared/domain/enumerations.ts'
import { dustBound, holdingLock } from '#shared/domain/invoice/lock-match.ts'
import { type AssetLock, activeLock, type InvoiceState, type LedgerRow } from '#shared/domain/invoice/model.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ChainCursor } from '#shared/ports/scanning.ts'

/** One stored payment, what it counts for and why, for a person. */
export interface PaymentExplanation {
  readonly id: string
  readonly key: string
  readonly txHash: string | null
  readonly network: string
  readonly asset: AssetId | null
  readonly amountBase: string
  /** In units of its asset; null for a token without one. */
  readonly amount: string | null
  readonly toAddress: string
  readonly fromAddress: string | null
  readonly state: Payment['state']
  readonly blockHeight: number | null
  readonly confirmations: number
  readonly requiredConfirmations: number
  /** Null where finality is not asked for. */
  readonly isFinal: boolean | null
  readonly firstSeenAt: string
  readonly late: boolean
  /** Fiat per asset when it was first seen, only looked up outside the promised time. */
  readonly rateSeen: string | null
  readonly counted: boolean
  /** Too small to count by itself, see decision 0047. */
  readonly isDust: boolean
  /** It enters the sums that can settle the invoice. */
  readonly eligible: boolean
  /** One or two plain sentences. */
  readonly words: string
}

/** What a payment is explained with; `invoice` is the one it belongs to, if any. */
export interface PaymentScene {
  readonly invoice: InvoiceState | null
  readonly cursor: ChainCursor | null
  readonly catalog: Pick<Catalog, 'asset'>
}

const iso = (at: number): string => new Date(at).toISOString()

/** Says of a stored payment how far it is, whether it counts and why (not). Pure. */
export function explainPayment(payment: Payment, scene: PaymentScene): PaymentExplanation {
  const { cursor, invoice, catalog } = scene
  const row = invoice?.ledger.find((known) => known.payment === payment.key)
  const { asset, block, state } = payment
  const finalizedHeight = cursor?.finalizedHeight ?? -1
  return {
    id: payment.id,
    key: payment.key,
    txHash: payment.txHash,
    network: payment.network,
    asset,
    amountBase: payment.amountBase.toString(),
    amount: asset === null ? null : formatUnits(payment.amountBase, catalog.asset(asset).decimals),
    toAddress: payment.toAddress,
    fromAddress: payment.fromAddress,
    state,
    blockHeight: block?.height ?? null,
    confirmations: block === null || cursor === null ? 0 : Math.max(0, cursor.height - block.height + 1),
    requiredConfirmations: payment.requiredConfirmations,
    isFinal: payment.needsFinality ? block !== null && block.height <= finalizedHeight : null,
    firstSeenAt: iso(payment.firstSeenAt),
    late: row?.late ?? payment.late,
    rateSeen: row?.rateSeen ?? null,
    counted: row?.counted ?? payment.counted,
    isDust: (row === undefined ? payment.uncountedReason : row.uncountedReason) === 'dust',
    eligible: row?.eligible ?? false,
    words: `${standing(payment, cursor)} ${judgement(payment, row, invoice)}${origin(payment)}`,
  }
}

/** How it became known, where no transaction tells. */
function origin({ block }: Payment): string {
  if (block?.rise === undefined) return ''
  const { since, beforeBase, afterBase } = block.rise
  return ` No transaction shows it, so it came inside of contract calls: the balance rose from ${beforeBase} at the end of block ${since.height} to ${afterBase}, what transactions show included.`
}

/** How it stands on its chain. */
function standing(payment: Payment, cursor: ChainCursor | null): string {
  const { state, block, replacedBy, requiredConfirmations, needsFinality } = payment
  if (payment.kind === 'simulated') return 'Simulated.'
  if (state === 'confirmed') return 'Confirmed.'
  if (state === 'replaced') return `Gone: transaction ${replacedBy ?? 'unknown'} spent the same money.`
  if (state === 'dropped') return 'Gone: the network no longer has it in its mempool.'
  if (state === 'orphaned') return 'Gone: its block left the chain and no other block has it yet.'
  if (block === null) return 'In no block yet.'
  const have = cursor === null ? 0 : Math.max(0, cursor.height - block.height + 1)
  if (have < requiredConfirmations) return `${have} of ${requiredConfirmations} confirmations.`
  if (needsFinality && block.height > (cursor?.finalizedHeight ?? -1)) {
    return `${have} confirmations, but block ${block.height} is not final on its chain yet (final up to ${cursor?.finalizedHeight ?? 'nothing'}).`
  }
  return `${have} of ${requiredConfirmations} confirmations; it waits for the scanner or for a second node to vouch for it.`
}

function acceptedText(acceptedBase: bigint, invoice: InvoiceState): string {
  const lock = activeLock(invoice)
  return lock === null ? 'paid' : `${formatUnits(acceptedBase, lock.decimals)} ${lock.symbol}`
}

/** What it counts for. */
function judgement(payment: Payment, row: LedgerRow | undefined, invoice: InvoiceState | null): string {
  if (payment.invoiceId === null || invoice === null) {
    return 'It belongs to no invoice: nobody held its address, or asked for exactly this amount, at that time.'
  }
  if (payment.dirtyAt !== null) return 'Its newest version is not applied to the invoice yet.'
  const reason = row === undefined ? payment.uncountedReason : row.uncountedReason
  if (reason === 'dust') return dustWords(payment, invoice)
  if (row === undefined) return withoutRow(payment)
  if (row.acceptedBase !== null)
    return `It counts as ${acceptedText(row.acceptedBase, invoice)}: an operator decided so.`
  if (row.countedByHand === true && isLive(row)) return 'It is dust, and counts because an operator counted it.'
  if (!row.counted) return `It does not count: ${UNCOUNTED[row.uncountedReason ?? 'unmatched']}`
  if (row.state === 'replaced' || row.state === 'dropped' || row.state === 'orphaned') return 'It counts for nothing.'
  if (!row.eligible) return `It is shown as received but does not settle: ${lateness(row, invoice)}`
  return row.state === 'confirmed' ? 'It counts.' : 'It counts once it is confirmed.'
}

const UNCOUNTED: Readonly<Record<NonNullable<LedgerRow['uncountedReason']>, string>> = {
  wrong_asset: 'the invoice asked for another asset on this address.',
  wrong_network: 'the invoice asked for money on another network.',
  inactive_lock: 'the payer had turned to another asset, and money came there first.',
  out_of_quote:
    'no promised price covered the moment it was first seen, and the last one was over for too long or had moved too far.',
  unmatched: 'none of the invoice’s addresses received it.',
  dust: 'it is too small.',
}

/** Names the bound, so that an operator sees why a genuine but tiny transfer is left out. */
function dustWords(payment: Payment, { locks }: InvoiceState): string {
  const lock = locks[holdingLock(locks, payment) ?? -1]
  const bound = lock === undefined ? '' : ` than ${formatUnits(dustBound(lock), lock.decimals)} ${lock.symbol}`
  return `It does not count: it is dust, smaller${bound}, and changes nothing until an operator counts it.`
}

function withoutRow(payment: Payment): string {
  if (payment.asset === null) {
    return `It does not count: token ${payment.contract ?? 'unknown'} is not one that invoices can ask for.`
  }
  if (payment.uncountedReason !== null) return `It does not count (${payment.uncountedReason}).`
  return 'Too small or too many to be listed: it is in the sum of all others.'
}

/** Why late money does not settle. */
function lateness(row: LedgerRow, invoice: InvoiceState): string {
  const lock = activeLock(invoice)
  const since = row.firstSeenAt - invoice.expiresAt
  if (since <= 0) return 'it was seen in time, but mined more than a day after the deadline.'
  const minutes = Math.ceil(since / 60_000)
  if (lock === null) return 'it came after the deadline.'
  if (since > lock.policy.lateGraceMs) {
    return `it came ${minutes} min after the deadline, and ${Math.floor(lock.policy.lateGraceMs / 60_000)} min are allowed.`
  }
  if (row.rateSeen === null) return `it came ${minutes} min after the deadline, and no rate was published at that time.`
  return `it came ${minutes} min after the deadline, when the rate was ${row.rateSeen} instead of ${promisedRate(lock)}: more than ${lock.policy.lateDriftBps / 100} % worse.`
}

const promisedRate = (lock: AssetLock): string => lock.quotes.at(-1)?.fiatPerAsset ?? 'unknown'
