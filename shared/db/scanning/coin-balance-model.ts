import { COUNT, DATE, defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** One stored check; amounts are decimal strings of base units, which may be negative. */
export interface BalanceCheckDocument {
  height: number
  hash: string
  balanceBase: string
  flowBase: string
  through: { height: number; hash: string }
  invoiceId?: string
}

/** The last checks of one account. */
export interface CoinBalanceDocument {
  /** `<mode>:<network>:<match key>` */
  _id: string
  mode: Mode
  network: NetworkId
  matchKey: string
  checks: BalanceCheckDocument[]
  scanEpoch: number
  updatedAt: Date
}

/** The coin_balances collection: one document per mode, network and account, read by `_id`. */
export const COIN_BALANCES = defineCollection<CoinBalanceDocument>(
  'coin_balances',
  {
    _id: TEXT,
    mode: TEXT,
    network: TEXT,
    matchKey: TEXT,
    checks: { type: [Object], required: true },
    scanEpoch: COUNT,
    updatedAt: DATE,
  },
  [{ name: 'coin_balance_updated', key: { updatedAt: 1, _id: 1 } }],
)
