import type { CoinBalance } from '#shared/db/scanning/coin-balance-model.ts'
/** Balance of an account at the end of a block, and its known transactions since. */
export type BalanceCheck = NonNullable<CoinBalance['checks']>[number]

/** What an account had when invoices that wait for it were first read. */
export type AccountStart = NonNullable<CoinBalance['starts']>[number]

/** The starts of one account, the oldest first. */
export interface AccountStarts {
  readonly matchKey: string
  readonly starts: readonly AccountStart[]
}

/** The last checks of one account, the newest last. */
export type AccountChecks = Required<Pick<CoinBalance, 'matchKey' | 'checks'>> & Pick<CoinBalance, 'run'>
