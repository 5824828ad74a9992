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

/** Whether there is something to move, or that is unknown. */
export function mayHold({ balance }: Pick<FundsLine, 'balance'>): boolean {
  return balance === null || !/^0(\.0*)?$/.test(balance)
}

/** Sums of known balances by network and asset, in the order of the lines; `unknown` balances are missing in them. Assets of which nothing is held are left out. */
export function fundsTotals(lines: readonly FundsLine[]) {
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
