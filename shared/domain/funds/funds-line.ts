import type { AssetId, FiatCode, NetworkId } from '../enumerations.ts'
import { type Decimal, formatDecimal, parseDecimal } from '../money/money.ts'

/** One asset at one address, for people. Amounts are decimal strings; null means unknown. */
export interface FundsLine {
  readonly network: NetworkId
  readonly address: string
  /** Position in the owner's wallet; null for listed addresses. */
  readonly path: string | null
  readonly asset: AssetId
  readonly symbol: string
  readonly balance: string | null
  /** Cost of moving the whole balance, in `feeSymbol`; null where it is unknown or there is nothing to move. */
  readonly fee: string | null
  /** The network's coin. */
  readonly feeSymbol: string
  /** The part of `fee` that pays for sending coins to the address first; `0` where none are needed, and where `fee` is null. */
  readonly topUp: string
  readonly currency: FiatCode
  /** Null without a rate. */
  readonly balanceFiat: string | null
  readonly feeFiat: string | null
}

/** Whether there is something to move, or nobody knows. */
export function mayHold({ balance }: Pick<FundsLine, 'balance'>): boolean {
  return balance === null || !/^0(\.0*)?$/.test(balance)
}

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
  return `${[COLUMNS, ...rows].map((row) => row.map(quoted).join(',')).join('\r\n')}\r\n`
}

/** Programs that open the file run a cell that begins with one of these as a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/

function quoted(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Sum of an asset's known balances, and whether some are unknown. */
export interface FundsTotal {
  readonly network: NetworkId
  readonly asset: AssetId
  readonly symbol: string
  readonly balance: string
  /** Balances that are missing in the sum. */
  readonly unknown: number
  readonly addresses: number
}

/** Totals by network and asset, in the order of the lines; assets of which nothing is held are left out. */
export function fundsTotals(lines: readonly FundsLine[]): readonly FundsTotal[] {
  const totals = new Map<AssetId, { line: FundsLine; sum: Decimal; unknown: number; addresses: number }>()
  for (const line of lines.filter(mayHold)) {
    const total = totals.get(line.asset) ?? { line, sum: { digits: 0n, scale: 0 }, unknown: 0, addresses: 0 }
    const isUnknown = line.balance === null
    totals.set(line.asset, isUnknown ? { ...total, unknown: total.unknown + 1 } : added(total, line.balance))
  }
  return [...totals.values()].map(({ line: { network, asset, symbol }, sum, unknown, addresses }) => ({
    ...{ network, asset, symbol, unknown, addresses },
    balance: formatDecimal(sum),
  }))
}

function added<T extends { readonly sum: Decimal; readonly addresses: number }>(total: T, text: string): T {
  const value = parseDecimal(text)
  const isFiner = value.scale > total.sum.scale
  const scale = isFiner ? value.scale : total.sum.scale
  const at = ({ digits, scale: from }: Decimal) => digits * 10n ** BigInt(scale - from)
  return { ...total, sum: { digits: at(total.sum) + at(value), scale }, addresses: total.addresses + 1 }
}
