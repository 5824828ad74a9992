import type { CoinBalance } from '#shared/db/scanning/coin-balance-model.ts'
/** Balance of an account at the end of a block, and its known transactions since. */
export type BalanceCheck = CoinBalance['checks'][number]

/** What an account had when an invoice that waits for it was first read. */
export interface AccountStart {
  readonly matchKey: string
  readonly start: NonNullable<CoinBalance['start']>
}

/** The last checks of one account, the newest last. */
export type AccountChecks = Pick<CoinBalance, 'matchKey' | 'checks'>
