import type { CoinBalance } from '#shared/db/scanning/coin-balance-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** Balance of an account at the end of a block, and its known transactions since. */
export type BalanceCheck = CoinBalance['checks'][number]

/** The last checks of one account, the newest last; or one for each invoice. */
export type AccountChecks = Pick<CoinBalance, 'matchKey' | 'checks'>

export interface CoinBalanceRepository {
  /** The stored checks of these accounts; accounts without one are missing. */
  find(mode: Mode, network: NetworkId, matchKeys: readonly string[]): Promise<readonly AccountChecks[]>
  /** Replaces the checks of accounts. Throws `ScannerFenced` when a newer lease holder wrote one of them. */
  save(mode: Mode, network: NetworkId, accounts: readonly AccountChecks[], epoch: number): Promise<void>
}
