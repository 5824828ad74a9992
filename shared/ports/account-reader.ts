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

/** Balances by match key, in the order of `AccountReader.assets`. */
export type Holdings = ReadonlyMap<string, readonly Figure[]>

/** Sums by match key, in base units, in the same order. */
export type Sums = ReadonlyMap<string, readonly bigint[]>

/** A block by height and hash. */
export interface BlockPlace {
  readonly height: number
  readonly hash: string
}

/** The range after `from` up to and including `to`, and the accounts that are looked for in it. */
export interface AccountQuestion {
  readonly from: BlockPlace
  readonly to: BlockPlace
  /** Lower-case hex, each once. */
  readonly matchKeys: readonly string[]
  /** Accounts of which only the balance of the coin matters, beside `matchKeys` and different from them. Only with `exactly`. */
  readonly others?: readonly string[]
  /**
   * Also reads logs of tokens over the whole range, and how many transactions each account sent: so money is found that
   * came in and went out again.
   */
  readonly exactly: boolean
  /** Every node that answers is asked, and what one of them finds counts. With `exactly` they must agree about coin balances at `from`. */
  readonly everywhere?: boolean
  /** The `state` of an answer of the same kind whose range ended at `from`. */
  readonly before?: Holdings
  /** Sums that are stored for these accounts in the range: who grew by exactly this much is not looked for. Only without `exactly`. */
  readonly stored?: Sums
}

/** What a range holds for the accounts. */
export interface AccountFindings {
  /** Heights of the blocks in which an account received something, or its balance changed; ascending. Others may be among them. */
  readonly heights: readonly number[]
  /** Balances and whatever else was read at `from`: as this node has them, or `before` where nothing differs from it. */
  readonly start: Holdings
  /** Balances at `to`. */
  readonly holdings: Holdings
  /**
   * By how much balances of accounts that changed grew, or shrank, over the range; 0 for a token that is unknown at one end, whose
   * logs are among `heights` instead. Only without `exactly`.
   */
  readonly growth?: Sums
  /** The same with whatever else was read; the next question may begin with it. */
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
}
