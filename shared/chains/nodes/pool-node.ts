/** One node, whatever it speaks. */
export interface PoolNode {
  /** Host and port of its URL, and nothing else of it: goes into messages and metrics. */
  readonly host: string
  /** Makes sure that it is on our chain, by a recent answer. Throws `NodeMismatch` when it is not. */
  identify(): Promise<void>
  /** Height of its newest block. */
  headHeight(): Promise<number>
  /** Hash of its block at a height; null when it has none, or when it cannot be asked. */
  hashAt(height: number): Promise<string | null>
  /** Usual time until an answer, milliseconds; 0 before the first. */
  readonly latencyMs: number
  close(): Promise<void>
}

/** What a piece of work asks of its node. */
export interface Demand {
  /** The node must have this block: one whose head is lower is not asked. */
  readonly height?: number
  /** How many nodes may be tried; all by default. */
  readonly attempts?: number
}
