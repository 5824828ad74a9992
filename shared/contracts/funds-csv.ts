import { type FundsLine, mayHold } from '#shared/domain/funds/funds-line.ts'
import { csvHeading, csvLine } from './csv.ts'

const COLUMNS = [
  'network',
  'address',
  'derivation_path',
  'asset',
  'balance',
  'moving_cost',
  'moving_cost_coin',
  'coin_needed_first',
  'currency',
  'balance_fiat',
  'moving_cost_fiat',
] as const

/** CSV (RFC 4180) of the lines that may hold something; an unknown figure is the word `unknown`, never empty and never 0. */
export function fundsCsv(lines: readonly FundsLine[]): string {
  const rows = lines.filter(mayHold).map((line) => {
    const isKnown = line.balance !== null
    const { network, address, path, asset, balance, fee, feeSymbol, topUp, currency, balanceFiat, feeFiat } = line
    const cells = [network, address, path ?? '', asset, balance ?? 'unknown', fee ?? 'unknown', feeSymbol]
    const value = (text: string | null) => text ?? (isKnown ? 'no rate' : 'unknown')
    const [first, feeValue] = fee === null ? ['unknown', 'unknown'] : [topUp, value(feeFiat)]
    return [...cells, first, currency, value(balanceFiat), feeValue]
  })
  return [csvHeading(COLUMNS), ...rows.map(csvLine)].join('')
}
