import { formatFiat } from '#shared/domain/money/fiat.ts'
import type { Volume } from '#shared/usecases/reports/read-overview.ts'

/** Coins with a separate bar; the others share one. */
const NAMED = 2
const OTHER = 'Other'

/** The bars of the first currency, largest coin first, each with one exact amount per day. */
export function volumeSeries({ days, currencies, rows }: Volume): {
  readonly series: { readonly name: string; readonly amounts: string[] }[]
  readonly totals: string[]
} {
  const main = currencies[0]?.currency
  if (main === undefined) return { series: [], totals: [] }
  const own = rows.filter(({ currency }) => currency === main)
  const bySymbol = new Map<string, bigint>()
  for (const { symbol, minor } of own) bySymbol.set(symbol ?? OTHER, (bySymbol.get(symbol ?? OTHER) ?? 0n) + minor)
  const ranked = [...bySymbol].sort(([, one], [, other]) => (one < other ? 1 : -1)).map(([symbol]) => symbol)
  const named = ranked.filter((symbol) => symbol !== OTHER).slice(0, NAMED)
  const nameOf = (symbol: string | null) => (symbol !== null && named.includes(symbol) ? symbol : OTHER)
  const amountsOf = (of: (name: string) => boolean) =>
    days.map((day) => {
      const minor = own
        .filter((row) => row.day === day && of(nameOf(row.symbol)))
        .reduce((sum, row) => sum + row.minor, 0n)
      return formatFiat(minor, main)
    })
  const names = ranked.length > named.length ? [...named, OTHER] : named
  return {
    series: names.map((name) => ({ name, amounts: amountsOf((candidate) => candidate === name) })),
    totals: amountsOf(() => true),
  }
}
