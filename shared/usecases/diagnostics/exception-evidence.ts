import {
  activePaymentMethod,
  type InvoiceState,
  type LedgerRow,
  type PaymentMethod,
} from '#shared/domain/invoice/model.ts'
import { quoteOpenedBy } from '#shared/domain/invoice/quote-window.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { driftPercent } from '#shared/usecases/rates/fiat-value.ts'
import type { PaymentExplanation } from './explain-payment.ts'

/** One check: what the rule requires, the actual value, and whether they match. Times in texts are ISO 8601, UTC. */
export interface EvidenceRow {
  readonly check: string
  readonly rule: string
  readonly fact: string
  /** Null where the rule requires nothing. */
  readonly ok: boolean | null
  readonly result: string
}

/** Input for the evidence about one payment. */
interface PaymentScene {
  readonly payment: Payment
  readonly words: PaymentExplanation
  readonly invoice: Invoice | null
  readonly catalog: Pick<Catalog, 'asset'>
}

/** Rule by rule, why a payment does not count automatically. */
export function paymentEvidence({ payment, words, invoice, catalog }: PaymentScene): readonly EvidenceRow[] {
  const lock = invoice === null ? null : activePaymentMethod(invoice.state)
  const fact = amountText(payment, catalog)
  const rows: EvidenceRow[] = []
  if (invoice !== null && lock !== null) {
    const row = invoice.state.ledger.find((known) => known.payment === payment.key)
    rows.push(coinRow(lock, payment, catalog), amountRow(invoice.state, lock, payment, fact))
    rows.push(timeRow(invoice.state, lock, payment, words))
    if (row?.rateSeen != null) rows.push(driftRow(lock, row, invoice))
  } else {
    rows.push({ check: 'Amount', rule: 'no invoice is for it', fact, ok: false, result: 'No invoice' })
  }
  rows.push(confirmationRow(payment, words))
  const to = `to ${payment.toAddress}`
  rows.push({ check: 'Transaction', rule: to, fact: payment.txHash ?? 'simulated', ok: null, result: '' })
  return rows
}

/** Evidence about the total received, for exceptions without a single payment. */
export function sumEvidence(invoice: Invoice | null): readonly EvidenceRow[] {
  if (invoice === null) return []
  const { state } = invoice
  const lock = activePaymentMethod(state)
  if (lock === null) return []
  const { dueBase, neededBase: needed, seenBase, settledBase, receivedBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, lock.decimals)} ${lock.symbol}`
  const tolerance = lock.policy.toleranceBase > 0n ? `, at least ${units(needed)}` : ''
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
          : `${units(needed - seenBase)} short`,
    },
    {
      check: 'Confirmed',
      rule: `${lock.requiredConfirmations} confirmations each`,
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

function coinRow(lock: PaymentMethod, payment: Payment, catalog: Pick<Catalog, 'asset'>): EvidenceRow {
  const { asset, network } = payment
  const symbol = asset === null ? 'an unsupported token' : catalog.asset(asset).symbol
  const same = asset === lock.asset
  const sameNetwork = network === lock.network
  return {
    check: 'Coin and network',
    rule: `${lock.symbol} on ${NETWORKS[lock.network].name}`,
    fact: `${symbol} on ${NETWORKS[network].name}`,
    ok: same,
    result: same ? 'Same' : sameNetwork ? 'Different coin' : 'Different network',
  }
}

function amountRow(state: InvoiceState, lock: PaymentMethod, payment: Payment, fact: string): EvidenceRow {
  const { dueBase } = totals(state)
  const due = `${formatUnits(dueBase, lock.decimals)} ${lock.symbol} due`
  if (payment.asset !== lock.asset) return { check: 'Amount', rule: due, fact, ok: null, result: '–' }
  const difference = payment.amountBase - dueBase
  const size = formatUnits(difference < 0n ? -difference : difference, lock.decimals)
  const result = difference === 0n ? 'Exact' : `${size} ${lock.symbol} ${difference < 0n ? 'short' : 'more'}`
  return { check: 'Amount', rule: due, fact, ok: difference >= 0n, result }
}

function timeRow(state: InvoiceState, lock: PaymentMethod, payment: Payment, words: PaymentExplanation): EvidenceRow {
  const minutes = Math.floor(lock.policy.lateGraceMs / 60_000)
  const late = payment.firstSeenAt - state.expiresAt
  const isUseGone = lock.policy.isUseGone === true
  const mined = payment.block === null ? '' : `, block time ${iso(payment.block.time)}`
  const inTime = late <= 0
  return {
    check: 'First seen',
    rule: `by ${iso(state.expiresAt)}, up to ${minutes} min late`,
    fact: `${words.firstSeenAt}${mined}`,
    ok: !isUseGone && (inTime || late <= lock.policy.lateGraceMs),
    result: isUseGone
      ? 'Place given to another payer'
      : inTime
        ? 'In time'
        : late <= lock.policy.lateGraceMs
          ? 'Late, within limit'
          : 'Too late',
  }
}

function driftRow(lock: PaymentMethod, row: LedgerRow, { terms }: Invoice): EvidenceRow {
  const from = quoteOpenedBy(lock, row.firstSeenAt).fiatPerAsset
  const to = row.rateSeen ?? '0'
  const drift = driftPercent(from, to)
  const allowed = lock.policy.lateDriftBps / 100
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
