import type { EvidenceRow } from '#shared/contracts/explanations.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  type LedgerRow,
  type PaymentMethod,
} from '#shared/domain/invoice/model.ts'
import { quoteOpenedBy } from '#shared/domain/invoice/quote-window.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { driftPercent } from '#shared/usecases/rates/fiat-value.ts'
import type { PaymentExplanation } from './explain-payment.ts'

/** Input for the evidence about one payment. */
interface PaymentScene {
  readonly payment: Payment
  readonly words: PaymentExplanation
  readonly invoice: Invoice | null
  readonly catalog: Pick<Catalog, 'asset'>
}

/** Rule by rule, why a payment does not count automatically. */
export function paymentEvidence({ payment, words, invoice, catalog }: PaymentScene): EvidenceRow[] {
  const paymentMethod = invoice === null ? null : activePaymentMethod(invoice.state)
  const fact = amountText(payment, catalog)
  const rows: EvidenceRow[] = []
  if (invoice !== null && paymentMethod !== null) {
    const row = invoice.state.ledger.find((known) => known.payment === payment.key)
    rows.push(coinRow(paymentMethod, payment, catalog), amountRow(invoice.state, paymentMethod, payment, fact))
    rows.push(timeRow(invoice.state, paymentMethod, payment, words))
    if (row?.rateSeen != null) rows.push(driftRow(paymentMethod, row, invoice))
  } else {
    rows.push({ check: 'Amount', rule: 'no invoice is for it', fact, ok: false, result: 'No invoice' })
  }
  rows.push(confirmationRow(payment, words))
  const to = `to ${payment.toAddress}`
  rows.push({ check: 'Transaction', rule: to, fact: payment.txHash ?? 'simulated', ok: null, result: '' })
  return rows
}

/** Evidence about the total received, for exceptions without a single payment. */
export function sumEvidence(invoice: Invoice | null): EvidenceRow[] {
  if (invoice === null) return []
  const { state } = invoice
  const paymentMethod = activePaymentMethod(state)
  if (paymentMethod === null) return []
  const { dueBase, neededBase: needed, seenBase, settledBase, receivedBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, paymentMethod.decimals)} ${paymentMethod.symbol}`
  const tolerance = paymentMethod.policy.toleranceBase > 0n ? `, at least ${units(needed)}` : ''
  const over = seenBase > dueBase
  return [
    {
      check: 'Amount',
      rule: `${units(dueBase)} due${tolerance}`,
      fact: `${units(receivedBase)} received`,
      ok: seenBase >= needed && !over,
      result: over
        ? `${units(seenBase - dueBase)} more`
        : seenBase >= needed
          ? 'Enough'
          : `${units(dueBase - seenBase)} short`,
    },
    {
      check: 'Confirmed',
      rule: `${paymentMethod.requiredConfirmations} confirmations each`,
      fact: `${units(settledBase)} confirmed`,
      ok: settledBase >= seenBase,
      result: settledBase >= seenBase ? 'Confirmed' : 'Waiting',
    },
    {
      check: 'Deadline',
      rule: iso(state.expiresAt),
      fact: state.paidAt === null ? 'missed' : `paid ${iso(state.paidAt)}`,
      ok: state.paidAt !== null,
      result: state.paidAt === null ? 'Missed' : 'Met',
    },
  ]
}

function coinRow(paymentMethod: PaymentMethod, payment: Payment, catalog: Pick<Catalog, 'asset'>): EvidenceRow {
  const { asset, network } = payment
  const symbol = asset === null ? 'an unsupported token' : catalog.asset(asset).symbol
  const same = asset === paymentMethod.asset
  const sameNetwork = network === paymentMethod.network
  return {
    check: 'Coin and network',
    rule: `${paymentMethod.symbol} on ${NETWORKS[paymentMethod.network].name}`,
    fact: `${symbol} on ${NETWORKS[network].name}`,
    ok: same,
    result: same ? 'Same' : sameNetwork ? 'Different coin' : 'Different network',
  }
}

function amountRow(state: InvoiceState, paymentMethod: PaymentMethod, payment: Payment, fact: string): EvidenceRow {
  const { dueBase } = totals(state)
  const due = `${formatUnits(dueBase, paymentMethod.decimals)} ${paymentMethod.symbol} due`
  if (payment.asset !== paymentMethod.asset) return { check: 'Amount', rule: due, fact, ok: null, result: '–' }
  const difference = payment.amountBase - dueBase
  const size = formatUnits(difference < 0n ? -difference : difference, paymentMethod.decimals)
  const result = difference === 0n ? 'Exact' : `${size} ${paymentMethod.symbol} ${difference < 0n ? 'short' : 'more'}`
  return { check: 'Amount', rule: due, fact, ok: difference >= 0n, result }
}

function timeRow(
  state: InvoiceState,
  paymentMethod: PaymentMethod,
  payment: Payment,
  words: PaymentExplanation,
): EvidenceRow {
  const minutes = Math.floor(paymentMethod.policy.lateGraceMs / 60_000)
  const late = payment.firstSeenAt - state.expiresAt
  const isUseGone = paymentMethod.policy.isUseGone === true
  const mined = payment.block === null ? '' : `, block time ${iso(payment.block.time)}`
  const inTime = late <= 0
  return {
    check: 'First seen',
    rule: `by ${iso(state.expiresAt)}, up to ${minutes} min late`,
    fact: `${words.firstSeenAt}${mined}`,
    ok: !isUseGone && (inTime || late <= paymentMethod.policy.lateGraceMs),
    result: isUseGone
      ? 'Place given to another payer'
      : inTime
        ? 'In time'
        : late <= paymentMethod.policy.lateGraceMs
          ? 'Late, within limit'
          : 'Too late',
  }
}

function driftRow(paymentMethod: PaymentMethod, row: LedgerRow, { terms }: Invoice): EvidenceRow {
  const from = quoteOpenedBy(paymentMethod, row.firstSeenAt).fiatPerAsset
  const to = row.rateSeen ?? '0'
  const drift = driftPercent(from, to)
  const allowed = paymentMethod.policy.lateDriftBps / 100
  // Only a falling price is a loss for the merchant.
  const ok = !drift.startsWith('−') || Number(drift.slice(1)) <= allowed
  return {
    check: 'Price change since lock',
    rule: `at most ${allowed} %`,
    fact: `${drift} % (${from} to ${to} ${terms.fiat.currency})`,
    ok,
    result: ok ? 'OK' : 'Exceeded',
  }
}

function confirmationRow(payment: Payment, words: PaymentExplanation): EvidenceRow {
  const confirmed = payment.state === 'confirmed'
  const gone = !confirmed && payment.state !== 'detected'
  return {
    check: 'Confirmations',
    rule: `${payment.requiredConfirmations} needed`,
    fact: payment.kind === 'simulated' ? 'simulated' : String(words.confirmations),
    ok: confirmed,
    result: confirmed ? 'Confirmed' : gone ? `Gone (${payment.state})` : 'Waiting',
  }
}

/** An amount with its symbol; base units for a token without a known asset. */
export function amountText(payment: Payment, catalog: Pick<Catalog, 'asset'>): string {
  if (payment.asset === null) return `${payment.amountBase} base units of a token`
  const { decimals, symbol } = catalog.asset(payment.asset)
  return `${formatUnits(payment.amountBase, decimals)} ${symbol}`
}

const iso = (at: number): string => new Date(at).toISOString()
