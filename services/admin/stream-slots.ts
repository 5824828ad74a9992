import { PaymeshError } from '#shared/contracts/errors.ts'
import { SCARCE } from '#shared/domain/scarce.ts'

/** Live views: two for each open page of a person. */
const LIVE_VIEWS = SCARCE.dashboardStreams.budget

/** Counts streams; each holds a connection and, for some, a query every few seconds. */
export interface StreamSlots {
  /** Takes a slot for an owner and returns a function that releases it. Throws `RATE_LIMITED` when the owner or the process has too many. */
  enter(ownerId: string): () => void
}

/** Slots of one process; by default those of live views. */
export function createStreamSlots({ perOwner: perOwnerMax, total: totalMax } = LIVE_VIEWS): StreamSlots {
  const perOwner = new Map<string, number>()
  let total = 0
  return {
    enter(ownerId) {
      const count = perOwner.get(ownerId) ?? 0
      if (count >= perOwnerMax || total >= totalMax) throw new PaymeshError('RATE_LIMITED')
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
