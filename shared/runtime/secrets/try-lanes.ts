import type { TryLanes } from '#shared/ports/try-lanes.ts'

/** Lanes of one process; a lane that nobody is in takes no memory. */
export function createTryLanes(): TryLanes {
  const taken = new Map<string, number>()
  return {
    enter(lane, places) {
      const count = taken.get(lane) ?? 0
      if (count >= places) return null
      taken.set(lane, count + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        const left = (taken.get(lane) ?? 1) - 1
        if (left === 0) taken.delete(lane)
        else taken.set(lane, left)
      }
    },
  }
}
