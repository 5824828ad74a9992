import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
import type { Books, Income } from '#test/support/evm-oracle.ts'

/** How a history was read, as far as limits depend on it. */
export interface ReadingScene {
  readonly isAttentive: boolean
  /** Balances of some blocks were never answered for. */
  readonly wasBlind: boolean
  /** The node dropped states that the scanner may have needed. */
  readonly isStateGone: boolean
  /** Accounts at which no open invoice waits. */
  readonly unawaited: ReadonlySet<string>
  /** Accounts whose coins the inbox leaves to a person. */
  readonly inInbox: ReadonlySet<string>
}

/** A stated limit: money that may be missing from what is stored, and must be right when it is stored. */
export interface Limit {
  readonly name: string
  readonly covers: (income: Income, scene: ReadingScene, books: Books) => boolean
}

const isCoin = ({ asset }: Income): boolean => asset === 'eth_ethereum'
const dustOf = ({ asset }: Income): bigint => parseUnits(ASSETS[asset].dust, ASSETS[asset].decimals)

/** All limits of reading an EVM account; `README.md` of this folder has them in words. Nothing else may be missing. */
export const LIMITS: readonly Limit[] = [
  {
    name: 'dust: an amount below the dust threshold of its asset starts no reading',
    covers: (income) => income.amountBase < dustOf(income),
  },
  {
    name: 'own fees: an increase within the fees that the account paid in its block is a miscounted fee',
    covers: ({ txHash, amountBase, feesBase }) => txHash === null && amountBase <= feesBase,
  },
  {
    name: 'moved by code: coins of an account whose code moves coins may come and go between two looks, which the inbox says',
    covers: (income, { isAttentive, inInbox }, { movedByCode }) =>
      isAttentive && isCoin(income) && movedByCode.has(income.matchKey) && inInbox.has(income.matchKey),
  },
  {
    name: 'balances not answered and moved by code: what came inside of calls and was moved on meanwhile shows in no sum, and the inbox says that none is compared',
    covers: ({ txHash, matchKey }, { wasBlind }, { movedByCode }) =>
      wasBlind && txHash === null && movedByCode.has(matchKey),
  },
  {
    name: 'state gone and nobody waits: an account that had other money before has no sum to compare with, which the inbox says',
    covers: ({ txHash, matchKey }, { isStateGone, unawaited }) =>
      isStateGone && txHash === null && unawaited.has(matchKey),
  },
  {
    name: 'state gone and sent by a key: what came inside of calls and was sent on in between is left to a person, in the inbox',
    covers: ({ txHash, matchKey }, { isStateGone, inInbox }) => isStateGone && txHash === null && inInbox.has(matchKey),
  },
  {
    name: 'state gone and moved by code: what code moved on is missing from an increase over several blocks',
    covers: (income, { isStateGone }, { movedByCode }) =>
      isStateGone && income.txHash === null && movedByCode.has(income.matchKey),
  },
]
