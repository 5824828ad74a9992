import type { NetworkId } from '#shared/domain/enumerations.ts'
import { type FundsLine, fundsTotals, mayHold } from '#shared/domain/funds/funds-line.ts'
import { table } from './output.ts'

/** Balances of a wallet on one network, as far as they were read. */
export interface NetworkFunds {
  readonly network: NetworkId
  readonly lines: readonly FundsLine[]
  readonly addresses: number
  readonly height: number | null
  readonly faults: readonly string[]
  /** The limit was reached before the last address. */
  readonly isCut: boolean
  readonly fees: readonly { readonly name: string; readonly value: string; readonly unit: string }[]
}

/** Whether every used address of every network was read and every balance is known: only then are totals exact. */
export function isComplete(found: readonly NetworkFunds[]): boolean {
  return found.every(({ lines, isCut }) => !isCut && lines.every(({ balance }) => balance !== null))
}

/** The reading for a person; `csv` is the name of the file that was written. A total that is a lower bound says "at least". */
export function fundsText(found: readonly NetworkFunds[], csv?: string): string {
  const lines = found.flatMap((one) => one.lines)
  const cut = new Set(found.filter(({ isCut }) => isCut).map(({ network }) => network))
  const shown = (value: string | null, symbol: string) => (value === null ? 'unknown' : `${value} ${symbol}`)
  const rows = lines
    .filter(mayHold)
    .map((line) => [
      line.network,
      line.address,
      line.path ?? '-',
      shown(line.balance, line.symbol),
      line.balanceFiat === null ? '-' : `${line.balanceFiat} ${line.currency}`,
      line.balance === null ? 'unknown' : shown(line.fee, line.feeSymbol),
      line.feeFiat === null ? '-' : `${line.feeFiat} ${line.currency}`,
      /^0(\.0*)?$/.test(line.topUp) ? '' : `includes ${line.topUp} ${line.feeSymbol} to send there first`,
    ])
  const head = ['NETWORK', 'ADDRESS', 'PATH', 'BALANCE', 'VALUE', 'COST OF MOVING', 'COST VALUE', '']
  const totals = fundsTotals(lines).map(({ network, symbol, balance, unknown, addresses }) => {
    const bound = unknown > 0 || cut.has(network) ? 'at least ' : ''
    const missing = unknown > 0 ? `; ${unknown} balances are unknown` : ''
    return `${network}: ${bound}${balance} ${symbol} on ${addresses} addresses${missing}`
  })
  const notes = found.flatMap(({ network, faults, isCut, addresses }) => [
    ...faults.map((fault) => `${network}: ${fault}; its balances are unknown`),
    ...(isCut
      ? [`${network}: only the first ${addresses} used addresses were read; set --addresses-max for more`]
      : []),
  ])
  const saved = csv === undefined ? [] : [`written to ${csv}${isComplete(found) ? '' : ', which is incomplete'}`]
  const none = cut.size === 0 ? 'no used address holds anything' : 'no address that was read holds anything'
  return [table(head, rows, none), ...totals, ...notes, ...saved].join('\n')
}
