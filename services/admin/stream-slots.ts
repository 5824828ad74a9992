import { PaymeshError } from '#shared/contracts/errors.ts'

/** Live views of one person: two for each open page, so that fifteen pages work. */
const PER_PERSON_MAX = 30
/** Live views of the whole process. */
const TOTAL_MAX = 2_000

/** Counts live views, each of which holds a connection and, for some, a query every few seconds. */
export interface StreamSlots {
  /** Takes a place for a person and returns what gives it back. Throws `RATE_LIMITED` when the person or the process has too many. */
  enter(userId: string): () => void
}

/** Slots of one process. */
export function createStreamSlots(): StreamSlots {
  const perPerson = new Map<string, number>()
  let total = 0
  return {
    enter(userId) {
      const count = perPerson.get(userId) ?? 0
      if (count >= PER_PERSON_MAX || total >= TOTAL_MAX) throw new PaymeshError('RATE_LIMITED')
      perPerson.set(userId, count + 1)
      total += 1
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        total -= 1
        const left = (perPerson.get(userId) ?? 1) - 1
        if (left === 0) perPerson.delete(userId)
        else perPerson.set(userId, left)
      }
    },
  }
}
