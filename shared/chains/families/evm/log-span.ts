/** Successes at a node's stated limit before a larger request is tried again: twice as many each time that the node states the same limit. */
const PATIENCE = 32
const PATIENCE_MAX = 2_048
const GROWTH = 1.05

/** How many blocks one log request spans on one node. */
export interface LogSpan {
  readonly blocks: number
  /** A request over `requestedBlocks` blocks was too large; `allowed` is the limit that the node stated, null when it stated none. */
  shrink(requestedBlocks: number, allowed: number | null): void
  /** A request over `requestedBlocks` blocks succeeded. */
  grow(requestedBlocks: number): void
  /** A range was given up because it would have taken too many requests: without one, nothing else could show that the node serves more again. */
  givenUp(): void
}

/** Starts at `max`, follows the node's limit, and grows again slowly: a dense stretch of the chain ends. */
export function createLogSpan(max: number): LogSpan {
  let blocks = max
  let ceiling = max
  let successes = 0
  let patience = PATIENCE
  let stated: number | null = null
  const widen = () => {
    blocks = Math.min(ceiling, Math.ceil(blocks * GROWTH))
  }
  return {
    get blocks() {
      return blocks
    },
    shrink(requestedBlocks, allowed) {
      successes = 0
      // A node that states the size it just refused is ignored.
      const named = allowed !== null && allowed < requestedBlocks
      if (named) {
        ceiling = allowed
        patience = allowed === stated ? Math.min(2 * patience, PATIENCE_MAX) : PATIENCE
        stated = allowed
      }
      blocks = named ? allowed : Math.max(1, Math.floor(requestedBlocks / 2))
    },
    grow(requestedBlocks) {
      if (requestedBlocks < blocks) return
      successes += 1
      if (blocks >= ceiling && successes >= patience) {
        ceiling = Math.min(max, Math.ceil(ceiling * GROWTH))
        successes = 0
      }
      widen()
    },
    givenUp: widen,
  }
}
