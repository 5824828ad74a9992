/** How long a way of asking is left out after the second failure in a row, milliseconds; twice as long after each further one, … */
const FIRST_MS = 60_000
/** … and at most this long. */
const LONGEST_MS = 3_600_000

/** Leaves out a way of asking that a node failed, for a while: another way gave the same answer, at a higher price. */
export interface Avoidance<N extends object> {
  isAvoided(node: N): boolean
  /** One failure alone avoids nothing. */
  failed(node: N): void
  worked(node: N): void
}

/** Avoids nothing yet; `now` in monotonic milliseconds. */
export function createAvoidance<N extends object>(now: () => number = () => performance.now()): Avoidance<N> {
  const failures = new WeakMap<N, { readonly inRow: number; readonly until: number }>()
  return {
    isAvoided: (node) => now() < (failures.get(node)?.until ?? Number.NEGATIVE_INFINITY),
    failed(node) {
      const inRow = (failures.get(node)?.inRow ?? 0) + 1
      const restMs = inRow < 2 ? 0 : Math.min(FIRST_MS * 2 ** (inRow - 2), LONGEST_MS)
      failures.set(node, { inRow, until: now() + restMs })
    },
    worked(node) {
      failures.delete(node)
    },
  }
}
