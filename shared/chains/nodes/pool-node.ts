/** One node, whatever its protocol. */
export interface PoolNode {
  /** Host and port of its URL, and nothing else of it: used in messages and metrics. */
  readonly host: string
  /** Checks that it is on our chain, using a recent response. Throws `NodeMismatch` when it is not. */
  identify(): Promise<void>
  /** Height of its newest block. */
  headHeight(): Promise<number>
  /**
   * Hash of its block at a height, or where it shows that no block is there, of the block after it, which stands for that. Null when it shows
   * neither, which proves nothing.
   */
  hashAt(height: number): Promise<string | null>
  /** Usual response time, milliseconds; 0 before the first. */
  readonly latencyMs: number
  close(): Promise<void>
}

/**
 * Names of the searches whose answer of nothing changes what we believe: a deadline passes, a payment is dropped or taken back, money counts as not
 * there. Nothing counts only where every node said so. One that fails or pauses is waited for, `createPatience`; a search that goes on
 * without it is reported, `Silence.unheard`.
 */
export type Search = 'balances' | 'logs' | 'mempool' | 'complete mempool' | 'unspent outputs' | 'transaction' | 'fork'

/** A transaction that may be at any node: one that lacks it says nothing about the others. */
export const LOCATED: Demand = {
  settles: (place) => place !== null && place !== 'not_searchable',
  search: 'transaction',
}

/** Requirements of a piece of work on its node. */
export interface Demand<T = unknown> {
  /** The node must have this block: one with a lower head is skipped. */
  readonly height?: number
  /** Whether an answer is what is looked for. One that is not counts only where no other node gives a better one. */
  readonly settles?: ((answer: T) => boolean) | undefined
  /** Such an answer does not count either while a node that fails or pauses is waited for. Without it nobody is. */
  readonly search?: Search | undefined
}
