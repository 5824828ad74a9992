/** Successes at the limit that a node named before more than that is tried again. */
const PATIENCE = 32
const GROWTH = 1.05

/** How many blocks one request for logs spans on one node. */
export interface LogSpan {
  readonly blocks: number
  /** A request over `asked` blocks was too much; `allowed` is what the node named instead, null when it named nothing. */
  shrink(asked: number, allowed: number | null): void
  /** A request over `asked` blocks was answered. */
  grow(asked: number): void
}

/** Starts at `max`, follows what the node allows, and grows again slowly: a dense stretch of the chain passes. */
export function createLogSpan(max: number): LogSpan {
  let blocks = max
  let ceiling = max
  let successes = 0
  return {
    get blocks() {
      return blocks
    },
    shrink(asked, allowed) {
      successes = 0
      // A node that names what it just refused is not believed.
      const named = allowed !== null && allowed < asked
      if (named) ceiling = allowed
      blocks = named ? allowed : Math.max(1, Math.floor(asked / 2))
    },
    grow(asked) {
      if (asked < blocks) return
      successes += 1
      if (blocks >= ceiling && successes >= PATIENCE) {
        ceiling = Math.min(max, Math.ceil(ceiling * GROWTH))
        successes = 0
      }
      blocks = Math.min(ceiling, Math.ceil(blocks * GROWTH))
    },
  }
}
