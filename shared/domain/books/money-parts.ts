import { type FiatCode, symbolOf } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms } from '#shared/domain/invoice/model.ts'
import type { MoneyPart } from '#shared/domain/reports/invoice-figures.ts'
import { reportedMinor } from '#shared/domain/reports/reporting-value.ts'
import { booksOf } from './invoice-books.ts'
import { type BookedInvoice, lacksRate, type Movement, priceValue } from './movements.ts'

/** An invoice whose figures can be converted. */
type Priced = Pick<InvoiceTerms, 'fiat' | 'reporting'>

/** The part of a balance between two values in a reporting currency: balances are rounded, so that parts add up. Null without a rate. */
export function reportedChange(terms: Priced, currency: FiatCode, from: bigint, to: bigint): bigint | null {
  const [before, after] = [reportedMinor(terms, currency, from), reportedMinor(terms, currency, to)]
  return before === null || after === null ? null : after - before
}

/** What a movement adds to the figures of the time in which it lies. */
export function partsOfMovement(terms: Priced, movement: Movement): readonly MoneyPart[] {
  const { currency } = terms.fiat
  const { kind, before, after, marketMinor, counted } = movement
  const isRefund = kind === 'refund'
  const owner = { currency, symbol: symbolOf(movement.asset) }
  const value = priceValue(movement)
  const price: MoneyPart[] = counted
    ? [
        {
          ...owner,
          figure: isRefund ? 'refunded' : 'received',
          minor: isRefund ? -value : value,
          ...converted(terms, isRefund ? -before : before, isRefund ? -after : after),
        },
      ]
    : []
  if (kind === 'correction') return price
  if (marketMinor === null) return lacksRate(movement) ? [...price, { ...owner, figure: 'unpriced', minor: 0n }] : price
  const market = isRefund ? -marketMinor : marketMinor
  const figure = isRefund ? 'market_refunded' : 'market_received'
  return [...price, { ...owner, figure, minor: market, ...converted(terms, 0n, market) }]
}

/** What an invoice adds, beside its price, to the figures of the time in which it was paid. */
export function partsOfPaid(
  invoice: BookedInvoice & { readonly terms: Priced },
  movements: readonly Movement[],
  symbol: string | null,
): readonly MoneyPart[] {
  const { terms } = invoice
  const { currency } = terms.fiat
  const { price, received, short, excess } = booksOf(invoice, movements)
  return [
    ...(short > 0n
      ? [{ figure: 'short' as const, currency, symbol, minor: short, ...converted(terms, received, price) }]
      : []),
    ...(excess > 0n
      ? [{ figure: 'excess' as const, currency, symbol, minor: excess, ...converted(terms, price, received) }]
      : []),
  ]
}

function converted(terms: Priced, from: bigint, to: bigint): Pick<MoneyPart, 'reported'> {
  const currency = terms.reporting?.currency
  const minor = currency === undefined ? null : reportedChange(terms, currency, from, to)
  return currency === undefined || minor === null ? {} : { reported: { currency, minor } }
}
