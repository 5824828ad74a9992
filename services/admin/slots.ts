import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type BeginLimit, beginsWithin } from '#shared/usecases/requests/begins-within.ts'

/** How much work owners may have. Every bound counts in this process only. */
export interface SlotLimits {
  /** Pieces of work of one owner at the same time. */
  readonly perOwner: number
  /** Pieces of work of all owners at the same time; absent: no bound. */
  readonly total?: number
  /** Pieces of work that one owner may begin within any window; absent: no bound. */
  readonly begins?: BeginLimit
}

/** The last slots of a process, as a share of all: only owners who hold none get them. */
const FIRST_SHARE = 0.25

/** Counts work that holds something scarce for as long as it runs: a connection, a thread, a query every few seconds. */
export type Slots = ReturnType<typeof createSlots>

/** Slots of one process. `now` is monotonic milliseconds. */
export function createSlots(
  { perOwner, total: totalMax = Number.POSITIVE_INFINITY, begins }: SlotLimits,
  now: () => Ms = () => performance.now(),
) {
  const counts = new Map<string, number>()
  const countBegin = begins === undefined ? () => undefined : beginsWithin(begins, 'requests', now)
  let total = 0
  return {
    /**
     * Takes a slot for an owner and returns a function that releases it. Throws `RATE_LIMITED` when the owner or the process has too many. A quarter
     * of the slots of a process is for the first one of an owner, so that a few owners keep no other out;
     * where the owner has to wait for the window, `details` contains `retryAfter` in seconds.
     */
    enter(ownerId: string): () => void {
      const count = counts.get(ownerId) ?? 0
      const shared = count === 0 ? totalMax : totalMax - Math.ceil(totalMax * FIRST_SHARE)
      if (count >= perOwner || total >= shared) throw new PaymeshError('RATE_LIMITED')
      countBegin(ownerId)
      counts.set(ownerId, count + 1)
      total += 1
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        total -= 1
        const left = (counts.get(ownerId) ?? 1) - 1
        if (left === 0) counts.delete(ownerId)
        else counts.set(ownerId, left)
      }
    },
  }
}
