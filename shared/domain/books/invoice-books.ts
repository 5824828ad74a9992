import { isSettled } from '#shared/domain/invoice/totals.ts'
import type { BookedInvoice, Movement } from './movements.ts'
import { lacksRate, priceValue } from './movements.ts'

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
