/** A node that lacks for less than this what another one has is not called old, milliseconds: blocks spread, and nodes are asked in turn. */
const LEEWAY_MS = 120_000
/** Intervals of the slowest node, as measured, for which a node may lack what another one has. */
const INTERVALS = 3
/** Intervals that are remembered for each node. */
const REMEMBERED = 15

/** Heights of several nodes that rise with their chain: of newest blocks, or of final ones. */
export interface Progress<E> {
  /** Records an answer. */
  note(entry: E, height: number): void
  /**
   * The height at which the answers of a node stand still while another node goes on, or two of several others: for longer than two minutes and than three usual intervals
   * between two of their heights. Null while it follows, or gives no answers: a node that does not respond is not old.
   */
  standsAt(entry: E): number | null
}

interface NodeHeights {
  highest: number
  movedAt: number
  answeredAt: number
  /** Since when another node has more; null while none has. */
  behindSince: number | null
  readonly intervals: number[]
}

/** `now` is monotonic, milliseconds. */
export function createProgress<E>(now: () => number): Progress<E> {
  const seen = new Map<E, NodeHeights>()

  function allowedMs(): number {
    return Math.max(LEEWAY_MS, ...[...seen.values()].map(({ intervals }) => INTERVALS * median(intervals)))
  }

  /** Where there are several others, what two of them have: one that claims too much makes no other one old. */
  function reachedBesides(one: NodeHeights): number {
    const others = [...seen.values()].flatMap((other) => (other === one ? [] : [other.highest]))
    const highestFirst = others.toSorted((a, b) => b - a)
    return highestFirst[others.length < 2 ? 0 : 1] ?? -1
  }

  return {
    note(entry, height) {
      const at = now()
      const one = seen.get(entry) ?? { highest: -1, movedAt: at, answeredAt: at, behindSince: null, intervals: [] }
      one.answeredAt = at
      if (height > one.highest) {
        if (one.highest >= 0) one.intervals.push(at - one.movedAt)
        if (one.intervals.length > REMEMBERED) one.intervals.shift()
        one.highest = height
        one.movedAt = at
        one.behindSince = null
      }
      seen.set(entry, one)
      for (const each of seen.values()) {
        each.behindSince = each.highest < reachedBesides(each) ? (each.behindSince ?? at) : null
      }
    },
    standsAt(entry) {
      const one = seen.get(entry)
      if (one === undefined || one.behindSince === null) return null
      return one.answeredAt - one.behindSince > allowedMs() ? one.highest : null
    },
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
