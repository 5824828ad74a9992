import { PaymeshError } from '#shared/contracts/errors.ts'

/** Live views of one person: two for each open page, enough for fifteen pages. */
const PER_PERSON_MAX = 30
/** Live views of the whole process. */
const TOTAL_MAX = 2_000

/** The last slots of a process, as a share of all: only owners who hold none get them. */
const FIRST_SHARE = 0.25

/** Counts streams; each holds a connection and, for some, a query every few seconds. */
export interface StreamSlots {
  /**
   * Takes a slot for an owner and returns a function that releases it. Throws `RATE_LIMITED` when the owner or the process has too many. A
   * quarter of the slots is for the first stream of an owner, so that a few owners with many streams keep no other out.
   */
  enter(ownerId: string): () => void
}

/** Slots of one process; by default those of live views. */
export function createStreamSlots({ perOwnerMax = PER_PERSON_MAX, totalMax = TOTAL_MAX } = {}): StreamSlots {
  const perOwner = new Map<string, number>()
  let total = 0
  return {
    enter(ownerId) {
      const count = perOwner.get(ownerId) ?? 0
      const shared = count === 0 ? totalMax : totalMax - Math.ceil(totalMax * FIRST_SHARE)
      if (count >= perOwnerMax || total >= shared) throw new PaymeshError('RATE_LIMITED')
      perOwner.set(ownerId, count + 1)
      total += 1
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        total -= 1
        const left = (perOwner.get(ownerId) ?? 1) - 1
        if (left === 0) perOwner.delete(ownerId)
        else perOwner.set(ownerId, left)
      }
    },
  }
}
