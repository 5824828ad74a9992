import type { CoinBalance } from '#shared/db/scanning/coin-balance-model.ts'
/** Balance of an account at the end of a block, and its known transactions since. */
export type BalanceCheck = CoinBalance['checks'][number]

/** The last checks of one account, the newest last. */
export type AccountChecks = Pick<CoinBalance, 'matchKey' | 'checks'>
