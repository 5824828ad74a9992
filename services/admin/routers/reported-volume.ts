import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import type { MoneyFigure, MoneySum } from '#shared/domain/books/invoice-books.ts'
import { FIAT_CODES, type FiatCode } from '#shared/domain/enumerations.ts'
import { formatSignedFiat } from '#shared/domain/money/money.ts'
import type { Volume } from '#shared/usecases/reports/read-overview.ts'

/** Coins with a separate bar; the others share one. */
const NAMED = 2
const OTHER = 'Other'

const count = z.int().nonnegative()
const decimal = boundedText(100).regex(/^-?\d+(\.\d+)?$/)

/**
 * Money in one currency, as decimals. `price`, `short` and `excess` are of the invoices that were paid in the period, as they were then, and later changes of the
 * last two are in the period in which they happened; what was `received` (less reversals) and `refunded`, at the price's rate and at market, of the period's movements; `net` is `received - refunded`.
 */
export const moneyAmounts = z.object({
  currency: z.enum(FIAT_CODES),
  /** Invoices that were paid. */
  count,
  ...{ price: decimal, short: decimal, excess: decimal, received: decimal, refunded: decimal, net: decimal },
  ...{ marketReceived: decimal, marketRefunded: decimal },
  /** Movements without a market price: in neither of the two amounts at market. */
  unpriced: count,
  /** Received in as many days before. */
  before: decimal,
})
type MoneyAmounts = z.output<typeof moneyAmounts>

/** Money in the reporting currency, in it or converted at the rate that was stored with each invoice. */
export const reportedAmounts = moneyAmounts.extend({
  /** Payments and refunds that no rate into the reporting currency was stored with: left out of every amount, never guessed. */
  missing: z.array(z.object({ currency: z.enum(FIAT_CODES), count })),
  /** Payments of the days before that are left out of `before`. */
  missingBefore: count,
  /** What was received on each day, by coin, the largest first. */
  series: z.array(z.object({ name: z.string(), amounts: z.array(decimal) })),
  totals: z.array(decimal),
})
type ReportedVolume = z.output<typeof reportedAmounts>

/** A part of a sum: all of it, or what is known in another currency. */
type PartOf = (row: MoneySum) => { readonly minor: bigint; readonly count: number }

/** Money of the invoices in one currency. */
export function currencyAmounts(
  { rows, rowsBefore }: Pick<Volume, 'rows' | 'rowsBefore'>,
  currency: FiatCode,
): MoneyAmounts {
  const own = (row: MoneySum) => row.currency === currency
  return amountsIn(currency, { rows: rows.filter(own), rowsBefore: rowsBefore.filter(own) }, (row) => row)
}

/** All money in the reporting currency. */
export function reportedVolume(volume: Volume, currency: FiatCode): ReportedVolume {
  const { days, rows, rowsBefore } = volume
  const partOf: PartOf = (row) => (row.currency === currency ? row : row.reported[currency]) ?? NOTHING
  const came = rows.filter(({ figure }) => figure === 'received')
  const cameBefore = rowsBefore.filter(({ figure }) => figure === 'received')
  const sumOf = (figures: readonly MoneySum[]) => figures.reduce((sum, row) => sum + partOf(row).minor, 0n)
  const bySymbol = new Map<string, bigint>()
  for (const row of came) {
    if (partOf(row).count > 0)
      bySymbol.set(row.symbol ?? OTHER, (bySymbol.get(row.symbol ?? OTHER) ?? 0n) + partOf(row).minor)
  }
  const ranked = [...bySymbol].sort(([, one], [, other]) => (one < other ? 1 : -1)).map(([symbol]) => symbol)
  const named = ranked.filter((symbol) => symbol !== OTHER).slice(0, NAMED)
  const nameOf = (symbol: string | null) => (symbol !== null && named.includes(symbol) ? symbol : OTHER)
  const amountsOf = (of: (name: string) => boolean) =>
    days.map((day) =>
      formatSignedFiat(sumOf(came.filter((row) => row.day === day && of(nameOf(row.symbol)))), currency),
    )
  const names = ranked.length > named.length ? [...named, OTHER] : named
  return {
    ...amountsIn(currency, { rows, rowsBefore }, partOf),
    missing: missingOf(rows, currency),
    missingBefore: missingOf(cameBefore, currency).reduce((sum, { count }) => sum + count, 0),
    series: names.map((name) => ({ name, amounts: amountsOf((candidate) => candidate === name) })),
    totals: amountsOf(() => true),
  }
}

const NOTHING = { minor: 0n, count: 0 }

function amountsIn(
  currency: FiatCode,
  { rows, rowsBefore }: { readonly rows: readonly MoneySum[]; readonly rowsBefore: readonly MoneySum[] },
  partOf: PartOf,
): MoneyAmounts {
  const of = (figure: MoneyFigure, among = rows) =>
    among.filter((row) => row.figure === figure).reduce((sum, row) => sum + partOf(row).minor, 0n)
  const countOf = (figure: MoneyFigure, part: PartOf) =>
    rows.filter((row) => row.figure === figure).reduce((sum, row) => sum + part(row).count, 0)
  const text = (minor: bigint) => formatSignedFiat(minor, currency)
  const [received, refunded] = [of('received'), of('refunded')]
  return {
    currency,
    count: countOf('price', partOf),
    ...{ price: text(of('price')), short: text(of('short')), excess: text(of('excess')) },
    ...{ received: text(received), refunded: text(refunded), net: text(received - refunded) },
    ...{ marketReceived: text(of('market_received')), marketRefunded: text(of('market_refunded')) },
    unpriced: countOf('unpriced', (row) => row),
    before: text(of('received', rowsBefore)),
  }
}

/** Other currencies with money that has no rate, and how many prices, payments and refunds lack it. */
function missingOf(rows: readonly MoneySum[], currency: FiatCode): ReportedVolume['missing'] {
  const money = rows.filter(({ figure }) => figure === 'price' || figure === 'received' || figure === 'refunded')
  const others = [...new Set(money.map((row) => row.currency))].filter((code) => code !== currency).sort()
  return others.flatMap((code) => {
    const own = money.filter((row) => row.currency === code)
    const lacking = (figure: MoneyFigure) =>
      own
        .filter((row) => row.figure === figure)
        .reduce((sum, row) => sum + row.count - (row.reported[currency]?.count ?? 0), 0)
    const count = Math.max(lacking('price'), lacking('received'), lacking('refunded'))
    return count === 0 ? [] : [{ currency: code, count }]
  })
}
