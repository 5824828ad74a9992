import type { z } from 'zod'
import { activePaymentMethod, type InvoiceState } from '#shared/domain/invoice/model.ts'
import { isLive, totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { refundWire } from './refund-wire.ts'

type RefundWords = Pick<z.infer<typeof refundWire>, 'status' | 'amount' | 'symbol'>

/**
 * What came of the money of a paid or overpaid invoice, in a few sentences: never more than was received, money in another coin as what it is, what a
 * reorganization took back, and what was sent back.
 */
export function settledSentence(
  state: InvoiceState,
  payments: readonly Pick<Payment, 'key' | 'asset'>[],
  refunds: readonly RefundWords[],
): string {
  const method = activePaymentMethod(state)
  if (method === null) return ''
  const { dueBase, settledBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, method.decimals)} ${method.symbol}`
  const counted = state.ledger.filter((row) => row.counted)
  const confirmed = counted.filter((row) => row.state === 'confirmed')
  const many = `${confirmed.length} ${confirmed.length === 1 ? 'payment' : 'payments'}`
  const others = new Set(payments.flatMap(({ key, asset }) => (asset === method.asset ? [] : key)))
  const isStated = confirmed.some((row) => row.acceptedBase !== null && others.has(row.payment))
  const of = `${formatUnits(settledBase, method.decimals)} of ${units(dueBase)}`
  const how = isStated
    ? `Money in another coin counts, at a stated value: ${of} in ${many}.`
    : `${of} confirmed in ${many}.`
  return [leadOf(state, counted, settledBase - dueBase, units), how, ...refundWords(refunds)].join(' ')
}

function leadOf(
  { status, underpaidAccepted }: Pick<InvoiceState, 'status' | 'underpaidAccepted'>,
  counted: InvoiceState['ledger'],
  above: bigint,
  units: (base: bigint) => string,
): string {
  if (above < 0n && counted.some((row) => !isLive(row))) return 'Paid, but a reorganization took money back.'
  if (underpaidAccepted) return 'Paid: a smaller amount was accepted.'
  return above > 0n && status === 'overpaid' ? `Overpaid by ${units(above)}:` : 'Paid in full.'
}

function refundWords(refunds: readonly RefundWords[]): readonly string[] {
  const sent = refunds.filter(({ status }) => status === 'sent').map(({ amount, symbol }) => `${amount} ${symbol}`)
  return sent.length === 0 ? [] : [`Refunded: ${sent.join(' and ')}.`]
}
