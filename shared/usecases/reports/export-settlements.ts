import { csvLine } from '#shared/contracts/csv.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { type SettlementsDeps, type SettlementsScope, settlementDays } from './read-settlements.ts'

/** Dependencies of exporting. */
export interface ExportSettlementsDeps extends SettlementsDeps {
  readonly networkName: (network: NetworkId) => string
}

const COLUMNS = [
  'day_utc',
  'wallet_id',
  'wallet_family',
  'wallet_kind',
  'asset',
  'symbol',
  'network',
  'payments',
  'received',
  'received_base_units',
  'applied_to_invoices',
  'applied_base_units',
] as const

/**
 * The lines of a CSV file of settlements, newest day first, heading first: the rows of `settlementDays`. Days are UTC, by confirmation;
 * amounts plain decimals of the coin and base units. The wallet is empty when the workspace has none with that address any more. `onRows` is called with
 * the number of rows of a day before they are yielded.
 */
export async function* exportSettlements(
  deps: ExportSettlementsDeps,
  scope: SettlementsScope,
  onRows: (count: number) => void = () => undefined,
): AsyncGenerator<string> {
  yield csvLine(COLUMNS)
  for await (const { at, rows } of settlementDays(deps, scope)) {
    onRows(rows.length)
    const day = new Date(at).toISOString().slice(0, 10)
    yield rows
      .map(({ asset, wallet, payments, receivedBase, appliedBase }) => {
        const { symbol, network, decimals } = deps.catalog.asset(asset)
        return csvLine([
          ...[day, wallet?.id ?? null, wallet?.family ?? null, wallet?.kind ?? null],
          ...[asset, symbol, deps.networkName(network), payments],
          ...[formatUnits(receivedBase, decimals), receivedBase.toString()],
          ...[formatUnits(appliedBase, decimals), appliedBase.toString()],
        ])
      })
      .join('')
  }
}
