import { type FiatCode, type InvoiceStatus, symbolOf } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms, Ms } from '#shared/domain/invoice/model.ts'
import { isSettled } from '#shared/domain/invoice/totals.ts'
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
  const refunds = movements.filter(({ refund }) => refund !== null)
  const others = movements.filter(({ refund }) => refund === null)
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
type ConvertibleTerms = Pick<InvoiceTerms, 'fiat' | 'reporting'>

/** The part of a balance between two values in a reporting currency: balances are rounded, so that parts add up. Null without a rate. */
export function reportedChange(terms: ConvertibleTerms, currency: FiatCode, from: bigint, to: bigint): bigint | null {
  const [before, after] = [reportedMinor(terms, currency, from), reportedMinor(terms, currency, to)]
  return before === null || after === null ? null : after - before
}

/** What a movement adds to the figures of the time in which it lies; `paidAt` is when its invoice was paid. */
export function partsOfMovement(
  { terms, paidAt }: { readonly terms: ConvertibleTerms; readonly paidAt: Ms | null },
  movement: Movement,
): readonly MoneyPart[] {
  const { currency } = terms.fiat
  const { kind, refund, before, after, marketMinor, counted } = movement
  const isRefund = refund !== null
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
  const isLater = !isRefund && paidAt !== null && movement.at > paidAt
  const parts = isLater ? [...price, ...gapParts(terms, owner.symbol, before, after)] : price
  if (kind === 'correction') return parts
  if (marketMinor === null) return lacksRate(movement) ? [...parts, { ...owner, figure: 'unpriced', minor: 0n }] : parts
  const market = isRefund ? -marketMinor : marketMinor
  const figure = isRefund ? 'market_refunded' : 'market_received'
  return [...parts, { ...owner, figure, minor: market, ...converted(terms, 0n, market) }]
}

/**
 * What an invoice adds, beside its price, to the figures of the time in which it was paid: what was short, or above the price, at that moment. What comes or goes
 * later changes both at its own time, so that a closed month stays as it was.
 */
export function partsOfPaid(
  terms: ConvertibleTerms,
  paidAt: Ms,
  movements: readonly Movement[],
  symbol: string | null,
): readonly MoneyPart[] {
  const balance = movements.findLast(({ refund, at }) => refund === null && at <= paidAt)?.after ?? 0n
  return gapParts(terms, symbol, terms.fiat.minor, balance)
}

/** How far a balance is below and above the price, as changes from one balance to another. */
function gapParts(terms: ConvertibleTerms, symbol: string | null, from: bigint, to: bigint): readonly MoneyPart[] {
  const { currency, minor: price } = terms.fiat
  const below = (balance: bigint) => (balance < price ? balance : price)
  const above = (balance: bigint) => (balance > price ? balance : price)
  const part = (figure: MoneyFigure, start: bigint, end: bigint): readonly MoneyPart[] =>
    start === end ? [] : [{ figure, currency, symbol, minor: end - start, ...converted(terms, start, end) }]
  return [...part('short', below(to), below(from)), ...part('excess', above(from), above(to))]
}

function converted(terms: ConvertibleTerms, from: bigint, to: bigint): Pick<MoneyPart, 'reported'> {
  const currency = terms.reporting?.currency
  const minor = currency === undefined ? null : reportedChange(terms, currency, from, to)
  return currency === undefined || minor === null ? {} : { reported: { currency, minor } }
}

/** What the front page counts of one invoice. */
export interface FiguredInvoice {
  readonly status: InvoiceStatus
  readonly coinChosen: boolean
  /** From choosing a coin to being paid; null while it was not paid. */
  readonly tookMs: Ms | null
  readonly currency: FiatCode
  /** Minor units of the currency, in decimal digits. */
  readonly minor: string
  /** The price in the reporting currency of its creation; absent where none was stored. */
  readonly reported?: { readonly currency: FiatCode; readonly minor: bigint }
  /** Of the coin, in capitals; null when no coin was ever chosen. */
  readonly symbol: string | null
}

/** Invoices and the exact sum of their prices in minor units, in decimal digits. */
interface StoredSum {
  readonly minor: string
  readonly count: number
}

/**
 * What a sum of money is of: prices of invoices that were paid, what they were short of, what came above their prices, and how movements changed both later;
 * and of movements what came and counts, and what went back, at the price's rate, and the same at market, where movements without a rate are counted as `unpriced`.
 */
const MONEY_FIGURES = [
  'price',
  'short',
  'excess',
  'received',
  'refunded',
  'market_received',
  'market_refunded',
  'unpriced',
] as const
export type MoneyFigure = (typeof MONEY_FIGURES)[number]

/** A part of a sum. Amounts are minor units; those of a movement that takes money back are below zero. */
export interface MoneyPart {
  readonly figure: MoneyFigure
  readonly currency: FiatCode
  /** Of the coin, in capitals; null without one. */
  readonly symbol: string | null
  readonly minor: bigint
  readonly reported?: { readonly currency: FiatCode; readonly minor: bigint }
}

/** Figures of a stretch of time, in the shape in which they are stored. They add up: see `mergeFigures`. */
export interface InvoiceFigures {
  /** Invoices created in it, by `<status>:coin` or `<status>:none`. */
  readonly created: Readonly<Record<string, number>>
  /** Money, by `<figure>:<currency>:<symbol>`: of invoices that were paid in it, and of movements in it. */
  readonly money: Readonly<Record<string, StoredSum & { readonly reported?: Readonly<Record<string, StoredSum>> }>>
  /** How long those that were paid in it took, by `durationBucket`. */
  readonly times: Readonly<Record<string, number>>
}

/** A sum of money in one currency and coin. */
export interface MoneySum {
  readonly figure: MoneyFigure
  readonly currency: FiatCode
  readonly symbol: string | null
  /** Exact sum in minor units. */
  readonly minor: bigint
  readonly count: number
  /** Those of its parts with a stored rate, converted, by reporting currency. */
  readonly reported: Readonly<Partial<Record<FiatCode, { readonly minor: bigint; readonly count: number }>>>
}

/** Invoices that have come this far. */
export interface CreatedFigure {
  readonly status: InvoiceStatus
  readonly coinChosen: boolean
  readonly count: number
}

/** Counts invoices and money: `created` and `paid` are those created, and those paid, in the same stretch of time; `parts` is other money of it. */
export function figuresOf(
  created: readonly FiguredInvoice[],
  paid: readonly FiguredInvoice[],
  parts: readonly MoneyPart[] = [],
): InvoiceFigures {
  const one = (part: Partial<InvoiceFigures>): InvoiceFigures => ({ created: {}, money: {}, times: {}, ...part })
  const prices = paid.map(({ currency, symbol, minor, reported }): MoneyPart => {
    return { figure: 'price', currency, symbol, minor: BigInt(minor), ...(reported !== undefined && { reported }) }
  })
  return mergeFigures([
    ...created.map(({ status, coinChosen }) => one({ created: { [`${status}:${coinChosen ? 'coin' : 'none'}`]: 1 } })),
    ...paid.flatMap(({ tookMs }) => (tookMs === null ? [] : one({ times: { [durationBucket(tookMs)]: 1 } }))),
    ...[...prices, ...parts].map(({ figure, currency, symbol, minor, reported }) =>
      one({
        money: {
          [`${figure}:${currency}:${symbol ?? ''}`]: {
            ...{ minor: minor.toString(), count: 1 },
            ...(reported !== undefined && {
              reported: { [reported.currency]: { minor: reported.minor.toString(), count: 1 } },
            }),
          },
        },
      }),
    ),
  ])
}

/** The figures of several stretches of time together. Sums of money are exact at any size. */
export function mergeFigures(parts: readonly InvoiceFigures[]): InvoiceFigures {
  const created = new Map<string, number>()
  const times = new Map<string, number>()
  const money = new Map<string, Sum & { readonly reported: Map<string, Sum> }>()
  for (const part of parts) {
    for (const [key, count] of Object.entries(part.created)) created.set(key, (created.get(key) ?? 0) + count)
    for (const [key, count] of Object.entries(part.times)) times.set(key, (times.get(key) ?? 0) + count)
    for (const [key, stored] of Object.entries(part.money)) {
      const known = money.get(key)
      const reported = known?.reported ?? new Map<string, Sum>()
      for (const [currency, sum] of Object.entries(stored.reported ?? {})) {
        reported.set(currency, added(reported.get(currency), sum))
      }
      money.set(key, { ...added(known, stored), reported })
    }
  }
  const texts = [...money].map(([key, { reported, ...sum }]) => {
    const inReporting = [...reported].map(([currency, one]) => [currency, stored(one)] as const)
    return [key, { ...stored(sum), ...(inReporting.length > 0 && { reported: sorted(inReporting) }) }] as const
  })
  return { created: sorted(created), money: sorted(texts), times: sorted(times) }
}

interface Sum {
  readonly minor: bigint
  readonly count: number
}

function added(known: Sum | undefined, { minor, count }: StoredSum): Sum {
  return { minor: (known?.minor ?? 0n) + BigInt(minor), count: (known?.count ?? 0) + count }
}

function stored({ minor, count }: Sum): StoredSum {
  return { minor: minor.toString(), count }
}

/** In one order, so that equal figures are stored as equal documents. */
function sorted<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)))
}

/** The sums of money, one per figure, currency and coin. */
export function moneySums({ money }: InvoiceFigures): readonly MoneySum[] {
  return Object.entries(money).map(([key, { minor, count, reported = {} }]) => {
    const [figure = '', currency = '', symbol = ''] = key.split(':')
    const sums = Object.entries(reported).map(([code, sum]) => [code, added(undefined, sum)] as const)
    return {
      ...{ figure: figure as MoneyFigure, currency: currency as FiatCode, symbol: symbol === '' ? null : symbol },
      ...{ minor: BigInt(minor), count, reported: Object.fromEntries(sums) as MoneySum['reported'] },
    }
  })
}

/** Counts of created invoices, one per status and whether a coin was chosen. */
export function createdFigures({ created }: InvoiceFigures): readonly CreatedFigure[] {
  return Object.entries(created).map(([key, count]) => {
    const [status = '', coin] = key.split(':')
    return { status: status as InvoiceStatus, coinChosen: coin === 'coin', count }
  })
}

/** Buckets for each doubling of a duration: the middle of a bucket is at most 0.8 % away from what is in it. */
const STEPS = 64

/** The bucket of a duration in whole milliseconds. Longer ones have greater numbers; below 64 ms each duration has its own. */
export function durationBucket(ms: Ms): number {
  if (ms < STEPS) return ms < 0 ? 0 : ms
  let width = 1
  let first = STEPS
  for (; ms >= STEPS * 2 * width; width *= 2) first += STEPS
  const beyond = ms - STEPS * width
  return first + (beyond - (beyond % width)) / width
}

/** The duration in the middle of a bucket, in whole milliseconds. */
export function bucketDuration(bucket: number): Ms {
  let width = 1
  let first = STEPS
  if (bucket < STEPS) return bucket
  for (; bucket >= first + STEPS; width *= 2) first += STEPS
  return (STEPS + bucket - first) * width + (width - (width % 2)) / 2
}

/** The median of the durations, by the nearest rank and to within 0.8 %; null without any. */
export function medianDuration({ times }: Pick<InvoiceFigures, 'times'>): Ms | null {
  const counts = Object.entries(times).map(([bucket, count]) => ({ bucket: +bucket, count }))
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  let passed = 0
  for (const { bucket, count } of counts.sort((one, other) => one.bucket - other.bucket)) {
    passed += count
    if (passed * 2 >= total) return bucketDuration(bucket)
  }
  return null
}
