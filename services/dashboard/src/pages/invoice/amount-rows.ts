import type { InvoiceDetail } from '../money/answers.ts'

/** The amounts of an invoice with their names, in units of its coin: what is due, all that came, and of it what counts where that is less. */
export function amountRows(
  status: InvoiceDetail['status'],
  { due, received, seen, confirmed, left }: NonNullable<InvoiceDetail['coins']>,
): readonly (readonly [name: string, amount: string])[] {
  const isSettled = status === 'paid' || status === 'overpaid'
  return [
    ['Due', due],
    ['Received', received],
    // Refunds of before it was paid, and money that came too late, pay nothing.
    ...(seen === received ? [] : [['Counted', seen] as const]),
    ['Confirmed', confirmed],
    // Nothing is left to pay of a paid invoice, whatever came: the rest was given up, or taken back.
    ...(!isSettled ? [['Left to pay', left] as const] : []),
    ...(isSettled && Number(left) > 0 ? [['Not received', left] as const] : []),
  ]
}
