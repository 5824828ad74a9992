import type { FiatCode } from '#shared/domain/enumerations.ts'
import { formatFiat } from '#shared/domain/money/fiat.ts'
import type { PaidFigure } from '#shared/domain/reports/invoice-figures.ts'
import type { Volume } from '#shared/usecases/reports/read-overview.ts'

/** Coins with a separate bar; the others share one. */
const NAMED = 2
const OTHER = 'Other'

/** Invoices of one currency that no rate into the reporting currency was stored with. */
interface Missing {
  readonly currency: FiatCode
  readonly count: number
}

/** Paid volume in one currency. Every amount is an exact decimal. */
export interface ReportedVolume {
  readonly currency: FiatCode
  readonly amount: string
  readonly before: string
  readonly count: number
  /** Left out of every amount, never guessed. */
  readonly missing: Missing[]
  /** Invoices of the days before that are left out of `before`. */
  readonly missingBefore: number
  /** One amount per day, by coin, the largest first. */
  readonly series: { readonly name: string; readonly amounts: string[] }[]
  readonly totals: string[]
}

/** Paid volume in the reporting currency: invoices in it, and those that were stored with a rate into it. */
export function reportedVolume({ days, rows, rowsBefore }: Volume, currency: FiatCode): ReportedVolume {
  const partOf = (row: PaidFigure) => (row.currency === currency ? row : row.reported[currency]) ?? NOTHING
  const sumOf = (figures: readonly PaidFigure[]) => figures.reduce((sum, row) => sum + partOf(row).minor, 0n)
  const countOf = (figures: readonly PaidFigure[]) => figures.reduce((sum, row) => sum + partOf(row).count, 0)
  const bySymbol = new Map<string, bigint>()
  for (const row of rows) {
    if (partOf(row).count > 0)
      bySymbol.set(row.symbol ?? OTHER, (bySymbol.get(row.symbol ?? OTHER) ?? 0n) + partOf(row).minor)
  }
  const ranked = [...bySymbol].sort(([, one], [, other]) => (one < other ? 1 : -1)).map(([symbol]) => symbol)
  const named = ranked.filter((symbol) => symbol !== OTHER).slice(0, NAMED)
  const nameOf = (symbol: string | null) => (symbol !== null && named.includes(symbol) ? symbol : OTHER)
  const amountsOf = (of: (name: string) => boolean) =>
    days.map((day) => formatFiat(sumOf(rows.filter((row) => row.day === day && of(nameOf(row.symbol)))), currency))
  const names = ranked.length > named.length ? [...named, OTHER] : named
  return {
    currency,
    amount: formatFiat(sumOf(rows), currency),
    before: formatFiat(sumOf(rowsBefore), currency),
    count: countOf(rows),
    missing: missingOf(rows, currency),
    missingBefore: rowsBefore.reduce((sum, row) => sum + row.count, 0) - countOf(rowsBefore),
    series: names.map((name) => ({ name, amounts: amountsOf((candidate) => candidate === name) })),
    totals: amountsOf(() => true),
  }
}

const NOTHING = { minor: 0n, count: 0 }

/** Other currencies in which invoices without the rate were paid, and how many. */
function missingOf(rows: readonly PaidFigure[], currency: FiatCode): Missing[] {
  const others = [...new Set(rows.map((row) => row.currency))].filter((code) => code !== currency).sort()
  return others.flatMap((code) => {
    const own = rows.filter((row) => row.currency === code)
    const count = own.reduce((sum, row) => sum + row.count - (row.reported[currency]?.count ?? 0), 0)
    return count === 0 ? [] : [{ currency: code, count }]
  })
}
