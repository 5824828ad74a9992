import type { AssetId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/**
 * A balance that is not known, because the token's contract failed when it was called. Each reading makes its own: it equals no other
 * figure, so no comparison takes two of them for "unchanged".
 */
export class UnknownFigure {
  /** The contract that failed. */
  readonly token: string

  constructor(token: string) {
    this.token = token
  }
}

/** A balance in base units as it was read. */
export type Figure = bigint | UnknownFigure

/** Whether a figure is a balance. */
export const isRead = (figure: Figure): figure is bigint => typeof figure === 'bigint'

/** By how much a balance grew; null where one of the figures is unknown. */
export const growthBetween = (then: Figure = 0n, now: Figure = 0n): bigint | null =>
  isRead(then) && isRead(now) ? now - then : null

/** Balances by match key, in the order of `AccountReader.assets`. */
export type Holdings = ReadonlyMap<string, readonly Figure[]>

/** Added to the number of sent transactions of an account that has code. */
export const CODE_MARK = 1n << 64n

/** Whether an account has code, by what stands behind its balances: what code does with coins shows in no figure. */
export const hasCode = (figures: readonly Figure[] = []): boolean => {
  const mark = figures.at(-1)
  return mark !== undefined && isRead(mark) && mark >= CODE_MARK
}

/** Sums by match key, in base units, in the same order. */
export type Sums = ReadonlyMap<string, readonly bigint[]>

/** A block by height, hash and time. An answer about its state counts only if it states the same height and time. */
export interface BlockPlace {
  readonly height: number
  readonly hash: string
  /** Milliseconds. */
  readonly time: Ms
}

/** Most work of one search. It ends at the block where one of these is used up, and what was found up to there counts. */
export interface SearchBudget {
  /** Blocks that the answer names. */
  readonly blocks: number
  /** Readings of state between both ends. At least as many as the first block needs are made. */
  readonly reads: number
  /** Requests for logs, at what this node allows in one. Where the range needs more, balances alone choose the blocks. */
  readonly logs: number
}

/** The range after `from` up to and including `to`, and the accounts that are looked for in it. */
export interface AccountQuestion {
  readonly from: BlockPlace
  readonly to: BlockPlace
  /** Lower-case hex, each once. */
  readonly matchKeys: readonly string[]
  /** Accounts of which only the balance of the coin matters, beside `matchKeys` and different from them. Only with `exactly`. */
  readonly others?: readonly string[]
  /** Those of `matchKeys` of which the number of sent transactions is read as well: so coins are found that came in and went out again. */
  readonly senders: readonly string[]
  /** Without it, only what is not in `stored` is looked for. */
  readonly exactly: boolean
  /** Every node is asked, and what one of them finds counts. Only without `exactly`. */
  readonly everywhere?: boolean
  /** The `state` of an answer of the same kind whose range ended at `from`. */
  readonly before?: Holdings
  /** Where the first reading between both ends is made, because nothing seems to have changed up to there. Any height is right; a good one saves readings. */
  readonly hint?: number | undefined
  /** Sums that are stored for these accounts in the range: who grew by exactly this much is not looked for. Only without `exactly`. */
  readonly stored?: Sums
  /** A balance has changed when it differs by at least this much, in the order of the assets: dust chooses no blocks. */
  readonly least: readonly bigint[]
  readonly budget: SearchBudget
}

/** Accounts whose logs of tokens are read above `from` up to `to`, in at most so many requests. */
export interface LogRange {
  readonly from: number
  readonly to: number
  readonly matchKeys: readonly string[]
  readonly requests: number
}

/** What a range holds for the accounts. */
export interface AccountFindings {
  /** Heights of the blocks in which an account received something, or its balance changed; ascending. Others may be among them. */
  readonly heights: readonly number[]
  /** The height up to which the range was searched: that of `to`, or less where the budget was used up. */
  readonly through: number
  /** Whether logs show tokens that came in and went out again. */
  readonly withLogs: boolean
  /** Balances and whatever else was read at `from`: as this node has them, or `before` where nothing differs from it. */
  readonly start: Holdings
  /** Balances at `through`. */
  readonly holdings: Holdings
  /** By how much balances of accounts that changed grew, or shrank, up to `through`. Only without `exactly`. */
  readonly growth?: Sums
  /** Balances at `through`, and behind them what `everywhere` adds, with 0 sent transactions of those that are no `senders`. */
  readonly state: Holdings
}

/** Cheap questions about few accounts instead of whole blocks. Its answers choose blocks; they never credit anything. */
export interface AccountReader {
  /** The coin first, then the tokens. */
  readonly assets: readonly AssetId[]
  /** Balances at the newest block and its time. Throws `NodeUnreliable`. */
  glance(matchKeys: readonly string[]): Promise<{ readonly time: Ms; readonly holdings: Holdings }>
  /**
   * The blocks of a range that have to be read in full. `forked` when the node does not have `from` or `to`; `gone` when no node has
   * balances at `from` any more. Throws `NodeUnreliable` when answers contradict each other.
   */
  touched(question: AccountQuestion): Promise<AccountFindings | 'forked' | 'gone'>
  /**
   * Balances at one block, behind them how many transactions each account has sent, plus `CODE_MARK` where it has code: one answer for each
   * node that has the state. Throws `NodeUnreliable` when none answers, and while one that gives no answer is waited for.
   */
  everywhere(matchKeys: readonly string[], at: BlockPlace): Promise<readonly Holdings[]>
  /**
   * Heights above `from` up to `to` at which logs of any node show tokens to the accounts; null where that takes more requests than
   * `requests` on every node. Throws `NodeUnreliable` as `everywhere` does.
   */
  received(range: LogRange): Promise<readonly number[] | null>
}
