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

/** Where a node that has nothing says nothing about the others, one of which may fail now. */
export const UNTIL_FOUND = { settles: (found: unknown): boolean => found !== null, waits: true }

/** Requirements of a piece of work on its node. */
export interface Demand<T = unknown> {
  /** The node must have this block: one with a lower head is skipped. */
  readonly height?: number
  /** Whether an answer is what is looked for. One that is not counts only where no other node gives a better one. */
  readonly settles?: ((answer: T) => boolean) | undefined
  /** Such an answer does not count either while another node fails or pauses, for ten minutes at most: that one may have a better one. */
  readonly waits?: boolean
  /** How many nodes may be tried; all by default. */
  readonly attempts?: number
}
