import { sumOthers } from '#shared/domain/invoice/fold.ts'
import { foldKey, IN_FOLD, observationAge } from '#shared/domain/invoice/fold-reading.ts'
import type { PaymentObservation } from '#shared/domain/invoice/invoice-event.ts'
import { activePaymentMethod, type LedgerRow, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { holdingMethod, isDust, isLive } from '#shared/domain/invoice/totals.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { InvoiceRecords } from '#shared/ports/reconciliation.ts'
import { observeKnownPayments } from '#shared/usecases/invoices/fold-payments.ts'
import type { Finding } from './violation.ts'

/** Each row of the ledger is one of the invoice's own payments, and no transfer is in it twice. */
export function checkCredits(records: InvoiceRecords): readonly Finding[] {
  return [...checkOwners(records), ...checkTransfers(records)]
}

/**
 * Compares the sums of an invoice with its stored payments. A payment whose newest version waits to be applied is compared only with
 * the version that was applied.
 */
export function checkSums(records: InvoiceRecords): readonly Finding[] {
  return [...checkRows(records), ...checkDust(records), ...checkUnlisted(records)]
}

function checkOwners({ invoice, payments }: InvoiceRecords): readonly Finding[] {
  const { ledger } = invoice.state
  const own = new Map(payments.map((payment) => [payment.key, payment]))
  return ledger.flatMap((row, index): readonly Finding[] => {
    const { payment: paymentKey } = row
    const payment = own.get(paymentKey)
    if (ledger.findIndex((other) => other.payment === paymentKey) < index)
      return [{ invariant: 'credited_once', words: 'the ledger lists the payment twice', paymentKey }]
    if (payment === undefined)
      return [{ invariant: 'credited_once', words: 'the ledger lists a payment that is not its own', paymentKey }]
    if (payment.mode !== invoice.terms.mode)
      return [{ invariant: 'credited_once', words: `a payment of ${payment.mode} money`, paymentKey }]
    return []
  })
}

/** One transfer has one key; two keys with the same place on the chain are one transfer counted twice. */
function checkTransfers({ invoice, payments }: InvoiceRecords): readonly Finding[] {
  const counted = new Set(invoice.state.ledger.filter((row) => row.counted && isLive(row)).map((row) => row.payment))
  const places = new Map<string, string>()
  return payments.flatMap((payment): readonly Finding[] => {
    const { key, network, contract, txHash, outputIndex } = payment
    if (!counted.has(key) || txHash === null || outputIndex === null) return []
    const place = `${network} ${contract} ${txHash} ${outputIndex}`
    const other = places.get(place)
    places.set(place, key)
    if (other === undefined) return []
    return [{ invariant: 'credited_once', words: `the same transfer is credited as ${other}`, paymentKey: key }]
  })
}

function checkRows({ invoice, payments }: InvoiceRecords): readonly Finding[] {
  const own = new Map(payments.map((payment) => [payment.key, payment]))
  return invoice.state.ledger.flatMap((row) => {
    const payment = own.get(row.payment)
    const words = payment === undefined ? null : faultOf(row, payment, invoice.state.status === 'cancelled')
    return words === null ? [] : [{ invariant: 'sums' as const, words, paymentKey: row.payment }]
  })
}

function faultOf(row: LedgerRow, payment: Payment, isCancelled: boolean): string | null {
  if (row.amountBase !== payment.amountBase)
    return `the ledger has ${row.amountBase} base units, the payment ${payment.amountBase}`
  if (row.version > payment.version) return `the ledger has version ${row.version}, the payment is ${payment.version}`
  if (row.version < payment.version)
    return payment.dirtyAt === null
      ? `version ${payment.version} was never applied; the ledger has ${row.version}`
      : null
  if (row.state !== payment.state) return `the ledger has it as ${row.state}, the payment is ${payment.state}`
  // The mark on the payment follows the invoice's write, and is written together with the removal of its dirty mark.
  const agrees = payment.counted === (row.counted && row.eligible) || isCancelled || row.acceptedBase !== null
  if (payment.dirtyAt !== null || agrees) return null
  return `the payment says counted ${payment.counted}, the ledger ${row.counted && row.eligible}`
}

/** Dust counts when it completes the invoice, which only one transfer can do, or when an operator counted it. */
function checkDust({ invoice, payments }: InvoiceRecords): readonly Finding[] {
  const { paymentMethods, ledger } = invoice.state
  const own = new Map(payments.map((payment) => [payment.key, payment]))
  const isDustRow = (row: LedgerRow): boolean => {
    const payment = own.get(row.payment)
    const paymentMethod = payment === undefined ? null : paymentMethodOf(paymentMethods, payment)
    return paymentMethod !== null && isDust(paymentMethod, row)
  }
  const byItself = ledger.filter((row) => {
    return row.counted && isLive(row) && row.acceptedBase === null && row.countedByHand !== true && isDustRow(row)
  })
  const more = byItself
    .slice(1)
    .map(({ payment }) => ({ words: 'a second transfer of dust counts', paymentKey: payment }))
  const listed = new Set(ledger.map((row) => row.payment))
  const marked = payments.filter((payment) => {
    const { key, dirtyAt, counted, kind, amountBase } = payment
    const paymentMethod =
      dirtyAt === null && counted && !listed.has(key) ? paymentMethodOf(paymentMethods, payment) : null
    return paymentMethod !== null && isDust(paymentMethod, { amountBase, simulated: kind === 'simulated' })
  })
  const wrong = marked.map(({ key }) => ({ words: 'the payment is dust and says that it counts', paymentKey: key }))
  return [...more, ...wrong].map((one) => ({ invariant: 'sums' as const, ...one }))
}

const paymentMethodOf = (
  paymentMethods: readonly PaymentMethod[],
  seen: Parameters<typeof holdingMethod>[1],
): PaymentMethod | null => paymentMethods[holdingMethod(paymentMethods, seen) ?? -1] ?? null

/** Payments without rows: the one sum covers exactly them, and no known payment is left out of it. */
function checkUnlisted({ invoice, payments }: InvoiceRecords): readonly Finding[] {
  const { state } = invoice
  const observations = observeKnownPayments(invoice, payments)
  const age = observationAge(state, observations, state.updatedAt)
  const key = `${foldKey(state)}:`
  const waits = payments.some(
    ({ dirtyAt, place = IN_FOLD }) => dirtyAt !== null || (place !== IN_FOLD && !place.startsWith(key)),
  )
  if (age !== 'same') return waits ? [] : [{ invariant: 'sums', words: 'a payment is in no row and in no sum' }]
  const listed = new Set(state.ledger.map((row) => row.payment))
  const unlisted = observations
    .filter((seen) => !listed.has(seen.payment))
    .map((seen: PaymentObservation) => ({ seen, paymentMethod: paymentMethodOf(state.paymentMethods, seen) }))
  const sum = sumOthers(state, unlisted, activePaymentMethod(state))
  const { others } = state
  const right =
    sum?.seenBase === others?.seenBase && sum?.confirmedBase === others?.confirmedBase && sum?.count === others?.count
  return right ? [] : [{ invariant: 'sums', words: 'the sum of the payments without rows differs' }]
}
