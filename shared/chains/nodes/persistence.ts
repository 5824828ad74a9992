/** Refusals of one question that count as lasting, … */
const TIMES = 3
/** … over at least this long, milliseconds, … */
const LASTING_MS = 20_000
/** … with pauses between them below this, milliseconds: what failed now and then works in between. */
const GAP_MAX_MS = 600_000
/** After a lasting refusal the node's refusals of other questions of the kind count at once for this long, milliseconds. */
const KNOWN_MS = 600_000
/** Questions remembered for one node. */
const QUESTIONS_MAX = 64

/**
 * How long each node has refused questions of one kind. It only decides how soon something else is asked as well: the question itself
 * is never left out, and everything expires.
 */
export interface Persistence<N extends object> {
  /** Notes a refusal. True when the node has refused this question three times over 20 s, or another one of the kind like that within ten minutes. */
  refused(node: N, question: string): boolean
  /** Notes an answer. */
  answered(node: N, question: string): void
}

interface Record {
  readonly open: Map<string, { readonly firstAt: number; readonly lastAt: number; readonly times: number }>
  lastingUntil: number
}

/** Starts without refusals; `now` in monotonic milliseconds. */
export function createPersistence<N extends object>(now: () => number = () => performance.now()): Persistence<N> {
  const records = new WeakMap<N, Record>()

  function recordOf(node: N): Record {
    const record = records.get(node) ?? { open: new Map(), lastingUntil: Number.NEGATIVE_INFINITY }
    records.set(node, record)
    return record
  }

  return {
    refused(node, question) {
      const record = recordOf(node)
      const at = now()
      const before = record.open.get(question)
      const goesOn = before !== undefined && at - before.lastAt < GAP_MAX_MS
      const entry = { firstAt: goesOn ? before.firstAt : at, lastAt: at, times: goesOn ? before.times + 1 : 1 }
      record.open.delete(question)
      record.open.set(question, entry)
      const [oldest] = record.open.keys()
      if (record.open.size > QUESTIONS_MAX && oldest !== undefined) record.open.delete(oldest)
      if (entry.times >= TIMES && at - entry.firstAt >= LASTING_MS) record.lastingUntil = at + KNOWN_MS
      return at < record.lastingUntil
    },
    answered(node, question) {
      const record = records.get(node)
      // What was refused is served again: the other refusals prove no more than this one did.
      if (record?.open.delete(question)) record.lastingUntil = Number.NEGATIVE_INFINITY
    },
  }
}
