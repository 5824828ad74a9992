import { type FiatCode, symbolOf } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms } from '#shared/domain/invoice/model.ts'
import { isSettled } from '#shared/domain/invoice/totals.ts'
import type { MoneyPart } from '#shared/domain/reports/invoice-figures.ts'
import { reportedMinor } from '#shared/domain/reports/reporting-value.ts'
import { type BookedInvoice, lacksRate, type Movement, priceValue } from './movements.ts'

/**
 * Why less came than the price: the invoice is open or ended unpaid, the rest was within the tolerance, a person accepted less as full payment,
 * or a reorganisation took money back after the invoice was paid.
 */
export const SHORT_KINDS = ['outstanding', 'tolerated', 'accepted', 'reversed'] as const
export type ShortKind = (typeof SHORT_KINDS)[number]

/** A sum of values at market, minor units, and how many movements are not in it because no rate was known. */
export interface MarketSum {
  readonly minor: bigint
  readonly unpriced: number
}

/** The figures of an invoice in minor units of its currency: `price = received + short - excess`, exactly. */
export interface InvoiceBooks {
  /** What was owed. */
  readonly price: bigint
  /** What came and counts, at the price's rate; reversals are taken off, refunds are not. */
  readonly received: bigint
  readonly short: bigint
  /** Null when nothing is missing. */
  readonly shortKind: ShortKind | null
  /** What came above the price. */
  readonly excess: bigint
  /** Everything that came and stayed, whether it counts or not, at the market of the moment when it came. */
  readonly market: MarketSum
  /** What was sent back, at the price's rate, and at the market of the moment when it was sent. */
  readonly refunded: bigint
  readonly refundedMarket: MarketSum
  /** `received - refunded`. */
  readonly net: bigint
}

/** The figures of an invoice, from its movements. */
export function booksOf({ terms: { fiat }, state }: BookedInvoice, movements: readonly Movement[]): InvoiceBooks {
  const refunds = movements.filter(({ kind }) => kind === 'refund')
  const others = movements.filter(({ kind }) => kind !== 'refund')
  const received = others.reduce((sum, movement) => sum + priceValue(movement), 0n)
  const refunded = -refunds.reduce((sum, movement) => sum + priceValue(movement), 0n)
  const short = received < fiat.minor ? fiat.minor - received : 0n
  const excess = received > fiat.minor ? received - fiat.minor : 0n
  const { minor, unpriced } = marketSum(refunds)
  return {
    ...{ price: fiat.minor, received, short, excess, refunded, net: received - refunded },
    shortKind: short === 0n ? null : shortKindOf(state, others),
    market: marketSum(others),
    refundedMarket: { minor: -minor, unpriced: -unpriced },
  }
}

/** The values of movements at market. A receipt without a rate and its reversal are left out alike. */
export function marketSum(movements: readonly Pick<Movement, 'marketMinor' | 'amountBase' | 'payment'>[]): MarketSum {
  const unknown = movements.filter(lacksRate)
  return {
    minor: movements.reduce((sum, { marketMinor }) => sum + (marketMinor ?? 0n), 0n),
    unpriced: unknown.reduce((count, { amountBase }) => count + (amountBase < 0n ? -1 : 1), 0),
  }
}

function shortKindOf(state: BookedInvoice['state'], movements: readonly Movement[]): ShortKind {
  if (!isSettled(state)) return 'outstanding'
  const reversed = movements.filter(({ kind }) => kind === 'reversal').length
  const again = movements.filter(({ kind, id, payment }) => kind === 'receipt' && id !== payment?.id).length
  if (reversed > again) return 'reversed'
  return state.ledger.some(({ acceptedBase }) => acceptedBase !== null) ? 'accepted' : 'tolerated'
}

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
