import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** Balance of an account at the end of a block, and its known transactions since. A fact about these two blocks. */
export interface BalanceCheck {
  /** The block whose state was read. */
  readonly height: number
  readonly hash: string
  readonly balanceBase: bigint
  /** Net flow of transactions in the blocks after it, up to and including `through`; may be negative. */
  readonly flowBase: bigint
  /** The same block, or a later one whose state could not be read. */
  readonly through: { readonly height: number; readonly hash: string }
  /** The invoice that began with this balance, where balances are compared only when invoices end. */
  readonly invoiceId?: string
}

/** The last checks of one account, the newest last; or one for each invoice. */
export interface AccountChecks {
  readonly matchKey: string
  readonly checks: readonly BalanceCheck[]
}

export interface CoinBalanceRepository {
  /** The stored checks of these accounts; accounts without one are missing. */
  find(mode: Mode, network: NetworkId, matchKeys: readonly string[]): Promise<readonly AccountChecks[]>
  /** Replaces the checks of accounts. Throws `ScannerFenced` when a newer lease holder wrote one of them. */
  save(mode: Mode, network: NetworkId, accounts: readonly AccountChecks[], epoch: number): Promise<void>
}
