import type { Ms } from '#shared/domain/invoice/model.ts'

/** A pair that a source refused is requested again, alone, after this long. */
const UNKNOWN_MS = 60 * 60_000

/** Which pairs to request together, where one unknown pair fails the whole list. */
export interface PairSearch {
  /** The next list of this round; null when the round is complete. A round goes on after a poll that ended early. */
  next(now: Ms): readonly string[] | null
  /** The source answered the last list. */
  answered(): void
  /** The source refused the last list because of one of its pairs. */
  refused(now: Ms): void
  /** The source's own list of what it has now: other pairs are not requested until the next one. False when it has none of ours, which is not believed. */
  listed(names: ReadonlySet<string>): boolean
  /** Pairs that the source does not have. */
  unknown(): ReadonlySet<string>
}

/** The parts of a round: all pairs; refused ones once more, now that others were answered; and those others, as proof that the source is well. */
type Stage = 'all' | 'again' | 'proof'

/**
 * Keeps what each request taught, so that a search may take many polls: a refused list is requested again in halves, while those that were answered are
 * left alone. A single pair counts as unknown, for an hour, when it was refused before and after another pair was answered, and the rest is answered after that.
 * A round without such a proof concludes nothing: the source is at fault, not the pairs.
 */
export function createPairSearch(names: readonly string[]): PairSearch {
  let unlisted: ReadonlySet<string> = new Set()
  /** Refused pairs, and when to request each again. */
  const refusedUntil = new Map<string, Ms>()
  let queue: readonly (readonly string[])[] = []
  let stage: Stage | null = null
  let suspects: readonly string[] = []
  let isAnswered = false

  function begin(now: Ms): void {
    const listed = names.filter((name) => !unlisted.has(name))
    const due = listed.filter((name) => (refusedUntil.get(name) ?? Number.POSITIVE_INFINITY) <= now)
    enter('all', [listed.filter((name) => !refusedUntil.has(name)), ...due.map((name) => [name])])
    suspects = []
    isAnswered = false
  }

  function enter(next: Stage, lists: readonly (readonly string[])[]): void {
    stage = next
    queue = lists.filter((list) => list.length > 0)
  }

  /** The stage after one whose lists are all done; null when the round is over. */
  function advance(now: Ms): void {
    if (suspects.length === 0 || !isAnswered) {
      stage = null
    } else if (stage === 'all') {
      const again = suspects
      suspects = []
      enter(
        'again',
        again.map((name) => [name]),
      )
    } else if (stage === 'again') {
      const isLeft = (name: string) => !suspects.includes(name) && !refusedUntil.has(name) && !unlisted.has(name)
      enter('proof', [names.filter(isLeft)])
    } else {
      for (const name of suspects) refusedUntil.set(name, now + UNKNOWN_MS)
      stage = null
    }
  }

  return {
    next(now) {
      if (stage === null) begin(now)
      while (stage !== null && queue.length === 0) advance(now)
      return queue[0] ?? null
    },
    answered() {
      for (const name of queue[0] ?? []) refusedUntil.delete(name)
      queue = queue.slice(1)
      isAnswered = true
    },
    refused(now) {
      const [list = [], ...rest] = queue
      const [only = ''] = list
      const middle = Math.ceil(list.length / 2)
      queue = list.length > 1 && stage !== 'proof' ? [list.slice(0, middle), list.slice(middle), ...rest] : rest
      // The rest fails as well, so what was refused says nothing about its pairs.
      if (stage === 'proof') stage = null
      else if (list.length === 1 && refusedUntil.has(only)) refusedUntil.set(only, now + UNKNOWN_MS)
      else if (list.length === 1) suspects = [...suspects, only]
    },
    listed(there) {
      const gone = names.filter((name) => !there.has(name))
      if (gone.length === names.length) return false
      if (gone.some((name) => !unlisted.has(name))) {
        stage = null
        queue = []
      }
      unlisted = new Set(gone)
      return true
    },
    unknown: () => new Set([...unlisted, ...refusedUntil.keys()]),
  }
}
