import type { AssetId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type InvoiceState, type LedgerRow } from '#shared/domain/invoice/model.ts'
import { quoteOpenedBy } from '#shared/domain/invoice/quote-window.ts'
import { dustBound, holdingMethod, isLive } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { Payment } from '#shared/ports/payments.ts'

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
  /** Null where the network's finality is not required. */
  readonly isFinal: boolean | null
  readonly firstSeenAt: string
  readonly late: boolean
  /** Fiat per asset when it was first seen; only read for payments outside the quote's time. */
  readonly rateSeen: string | null
  readonly counted: boolean
  /** Too small to count without a decision, see decision 0003. */
  readonly isDust: boolean
  /** Counts towards the sums that can settle the invoice. */
  readonly eligible: boolean
  /** One or two plain sentences. */
  readonly words: string
}

/** Input of explaining a payment; `invoice` is the one it belongs to, if any. */
export interface PaymentScene {
  readonly invoice: InvoiceState | null
  readonly cursor: ChainCursor | null
  readonly catalog: Pick<Catalog, 'asset'>
}

const iso = (at: number): string => new Date(at).toISOString()

/** Explains a stored payment: its progress, whether it counts and why (not). Pure. */
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
    words: `${standing(payment, cursor)} ${evaluation(payment, row, invoice)}${origin(payment)}`,
  }
}

/** How a payment without a visible transaction was detected. */
function origin({ block }: Payment): string {
  if (block?.increase === undefined) return ''
  const { since, beforeBase, afterBase } = block.increase
  return ` No transaction shows it, so a contract call sent it: the balance increased from ${beforeBase} at the end of block ${since.height} to ${afterBase}, including visible transactions.`
}

/** Its state on its chain. */
function standing(payment: Payment, cursor: ChainCursor | null): string {
  const { state, block, replacedBy, requiredConfirmations, needsFinality } = payment
  if (payment.kind === 'simulated') return 'Simulated.'
  if (state === 'confirmed') return 'Confirmed.'
  if (state === 'replaced') return `Gone: transaction ${replacedBy ?? 'unknown'} spent the same money.`
  if (state === 'dropped') return 'Gone: the network no longer has it in its mempool.'
  if (state === 'orphaned') return 'Gone: its block left the chain and no other block has it yet.'
  if (block === null) return 'Not in a block yet.'
  const have = cursor === null ? 0 : Math.max(0, cursor.height - block.height + 1)
  if (have < requiredConfirmations) return `${have} of ${requiredConfirmations} confirmations.`
  if (needsFinality && block.height > (cursor?.finalizedHeight ?? -1)) {
    return `${have} confirmations, but block ${block.height} is not final yet (finalised block: ${cursor?.finalizedHeight ?? 'none'}).`
  }
  return `${have} of ${requiredConfirmations} confirmations; waiting for the scanner or for a second node to confirm it.`
}

function acceptedText(acceptedBase: bigint, invoice: InvoiceState): string {
  const paymentMethod = activePaymentMethod(invoice)
  return paymentMethod === null
    ? 'paid'
    : `${formatUnits(acceptedBase, paymentMethod.decimals)} ${paymentMethod.symbol}`
}

/** Whether and why it counts. */
function evaluation(payment: Payment, row: LedgerRow | undefined, invoice: InvoiceState | null): string {
  if (payment.invoiceId === null || invoice === null) {
    return 'It matches no invoice: none was using this address, or was for exactly this amount, at that time.'
  }
  if (payment.dirtyAt !== null) return 'Its latest change has not been applied to the invoice yet.'
  const reason = row === undefined ? payment.uncountedReason : row.uncountedReason
  if (reason === 'dust') return dustLabel(payment, invoice)
  if (row === undefined) return withoutRow(payment)
  if (row.acceptedBase !== null)
    return `It counts as ${acceptedText(row.acceptedBase, invoice)} by decision of an operator.`
  if (row.countedByHand === true && isLive(row)) return 'It is dust, but counts because an operator applied it.'
  if (!row.counted) return `It does not count: ${UNCOUNTED[row.uncountedReason ?? 'unmatched']}`
  if (row.state === 'replaced' || row.state === 'dropped' || row.state === 'orphaned') return 'It does not count.'
  if (!row.eligible) return `It is shown as received but does not pay the invoice: ${lateness(row, invoice)}`
  return row.state === 'confirmed' ? 'It counts.' : 'It counts once it is confirmed.'
}

const UNCOUNTED: Readonly<Record<NonNullable<LedgerRow['uncountedReason']>, string>> = {
  wrong_asset: 'the invoice is for another coin at this address.',
  wrong_network: 'the invoice is for another network.',
  inactive_payment_method: 'the customer had chosen another coin, and that payment arrived first.',
  out_of_quote:
    'no price was locked when it was first seen, and the last price had expired too long ago or changed too much.',
  unmatched: 'it did not reach an address of the invoice.',
  dust: 'it is too small.',
}

/** Names the bound, so that an operator sees why a genuine but tiny transfer does not count. */
function dustLabel(payment: Payment, { paymentMethods }: InvoiceState): string {
  const paymentMethod = paymentMethods[holdingMethod(paymentMethods, payment) ?? -1]
  const bound =
    paymentMethod === undefined
      ? ''
      : ` than ${formatUnits(dustBound(paymentMethod), paymentMethod.decimals)} ${paymentMethod.symbol}`
  return `It does not count: it is dust, smaller${bound}, unless an operator applies it.`
}

function withoutRow(payment: Payment): string {
  if (payment.asset === null) {
    return `It does not count: token ${payment.contract ?? 'unknown'} is not supported.`
  }
  if (payment.uncountedReason !== null) return `It does not count (${payment.uncountedReason}).`
  return 'Too small or too many to list: it is part of the sum of all others.'
}

/** Why a late payment does not settle the invoice. */
function lateness(row: LedgerRow, invoice: InvoiceState): string {
  const paymentMethod = activePaymentMethod(invoice)
  const since = row.firstSeenAt - invoice.expiresAt
  if (paymentMethod?.policy.isUseGone === true)
    return 'another payer got its place of the payment link, so the merchant decides.'
  if (since <= 0) return 'it was detected in time, but mined more than a day after the deadline.'
  const minutes = Math.ceil(since / 60_000)
  if (paymentMethod === null) return 'it arrived after the deadline.'
  if (since > paymentMethod.policy.lateGraceMs) {
    return `it arrived ${minutes} min after the deadline; the limit is ${Math.floor(paymentMethod.policy.lateGraceMs / 60_000)} min.`
  }
  if (row.rateSeen === null)
    return `it arrived ${minutes} min after the deadline, and no rate was available at that time.`
  return `it arrived ${minutes} min after the deadline, when the rate was ${row.rateSeen} instead of ${quoteOpenedBy(paymentMethod, row.firstSeenAt).fiatPerAsset}: more than ${paymentMethod.policy.lateDriftBps / 100} % worse.`
}
