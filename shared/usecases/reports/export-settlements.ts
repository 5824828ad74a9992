import { csvHeading, csvLine } from '#shared/contracts/csv.ts'
import { amountText, signedUnits } from './book-cells.ts'
import { type SettlementsDeps, type SettlementsScope, settlementDays } from './read-settlements.ts'

const COLUMNS = [
  'day',
  'time_zone',
  'mode',
  'wallet_id',
  'wallet_family',
  'wallet_kind',
  'asset',
  'symbol',
  'network',
  'payments',
  'received_amount',
  'received_text',
  'applied_amount',
  'excess_amount',
  'refunded_amount',
] as const

/**
 * The lines of a CSV file of settlements, newest day first, heading first: the rows of `settlementDays`. Days are those of the zone, by
 * confirmation; amounts plain decimals of the coin. The wallet is empty when the workspace has none with that address any more. `onRows` is called with
 * the number of rows of a day before they are yielded.
 */
export async function* exportSettlements(
  deps: SettlementsDeps,
  scope: SettlementsScope,
  onRows: (count: number) => void = () => undefined,
): AsyncGenerator<string> {
  yield csvHeading(COLUMNS)
  for await (const { day, rows } of settlementDays(deps, scope)) {
    onRows(rows.length)
    yield rows
      .map(({ asset, wallet, payments, receivedBase, appliedBase, excessBase, refundedBase }) => {
        const { symbol, network, decimals } = deps.catalog.asset(asset)
        const units = (base: bigint) => signedUnits(base, decimals)
        return csvLine([
          ...[day, scope.zone, scope.mode, wallet?.id ?? null, wallet?.family ?? null, wallet?.kind ?? null],
          ...[asset, symbol, network, payments],
          ...[units(receivedBase), amountText(receivedBase, decimals, symbol)],
          ...[units(appliedBase), units(excessBase), units(refundedBase)],
        ])
      })
      .join('')
  }
}
