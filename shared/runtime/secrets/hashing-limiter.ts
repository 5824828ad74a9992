import type { HashingLimiter } from '#shared/ports/hashing-limiter.ts'
import type { After } from '#shared/ports/timers.ts'

interface Lane {
  /** Tries that wait for their turn, oldest first. */
  readonly waiting: Set<() => void>
  newestNext: boolean
}

/** Lanes of one process; an empty lane takes no memory. */
export function createHashingLimiter(after: After): HashingLimiter {
  const lanes = new Map<string, Lane>()

  function next(name: string, lane: Lane): void {
    const waiting = [...lane.waiting]
    const begin = lane.newestNext ? waiting.at(-1) : waiting[0]
    lane.newestNext = !lane.newestNext
    if (begin === undefined) lanes.delete(name)
    else {
      lane.waiting.delete(begin)
      begin()
    }
  }

  return {
    evaluate: async (name, evaluate, signal) => {
      signal?.throwIfAborted()
      const taken = lanes.get(name)
      const lane = taken ?? { waiting: new Set(), newestNext: true }
      if (taken === undefined) lanes.set(name, lane)
      else await turn(lane, signal)
      let restMs = 0
      try {
        const evaluated = await evaluate()
        restMs = evaluated.restMs
        return evaluated.answer
      } finally {
        if (restMs > 0) after(restMs, () => next(name, lane))
        else next(name, lane)
      }
    },
  }
}

/** Resolves when this try has the lane alone. */
function turn({ waiting }: Lane, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(begin)
      reject(signal?.reason)
    }
    const begin = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    waiting.add(begin)
    signal?.addEventListener('abort', leave, { once: true })
  })
}
