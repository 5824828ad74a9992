import type { Ms } from '#shared/domain/invoice/model.ts'

/** How many requests to an endpoint may be in flight from all processes: at the start, at most, and after time-outs. */
const START = 4
const HIGHEST = 32
const LOWEST = 1
/** Only responses this fast let the cap grow. */
const FAST_MS = 500
/** An endpoint counts as slow for this long after a time-out. */
const SLOW_FOR_MS = 60_000

/** The speed of one endpoint as this process measured it. */
export interface DeliveryCap {
  readonly slots: Slots
  /** Current bound of `slots`, which a turn out of the queue may fill: there is one such turn at a time, in all processes together. */
  limit(): number
  /** Places that this process may still take without asking the queue, for first attempts and turns of its own; below 1 when none. */
  ownRoom(): number
  /** Grows the cap by one for each round of fast responses, halves it on a time-out. Fast errors change nothing. */
  record(outcome: { readonly timedOut: boolean; readonly durationMs: number }, at: Ms): void
  /** True within a minute after a time-out: such an endpoint uses the slow lane, so that it cannot exhaust the normal one. */
  isSlow(at: Ms): boolean
  /** True when nothing is in flight and the endpoint is not slow: dropping the entry loses only the learned cap. */
  isIdle(at: Ms): boolean
}

/**
 * Additive increase, multiplicative decrease: a good endpoint gets up to 32 concurrent requests, one that hangs keeps
 * a single one, and recovers step by step. `processes()` is how many processes send: of several, one half of the cap is for the turn out of the
 * queue, which one process has at a time, the other half for the process that relays. A lone process has the whole cap for both.
 */
export function createDeliveryCap(processes: () => number): DeliveryCap {
  let limit = START
  let fastInRow = 0
  let slowUntil = 0
  const turnLimit = () => (processes() > 1 ? Math.max(LOWEST, Math.ceil(limit / 2)) : limit)
  const share = () => (processes() > 1 ? Math.max(LOWEST, Math.floor(limit / 2)) : limit)
  const slots = createSlots(turnLimit)
  return {
    slots,
    limit: turnLimit,
    ownRoom: () => Math.min(slots.free(), share() - slots.taken()),
    record: ({ timedOut, durationMs }, at) => {
      if (timedOut) {
        limit = Math.max(LOWEST, Math.floor(limit / 2))
        fastInRow = 0
        slowUntil = at + SLOW_FOR_MS
        return
      }
      fastInRow = durationMs <= FAST_MS ? fastInRow + 1 : 0
      if (fastInRow < limit) return
      fastInRow = 0
      limit = Math.min(HIGHEST, limit + 1)
    },
    isSlow: (at) => at < slowUntil,
    isIdle: (at) => slots.taken() === 0 && at >= slowUntil,
  }
}

/** A bounded number of places; the bound may move while places are taken. */
export interface Slots {
  /** Places free now; 0 when the bound fell below the number taken. */
  free(): number
  taken(): number
  take(count: number): void
  /** Gives places back and wakes waiting callers. */
  give(count: number): void
  /** Resolves when places are next given back, or when `wake` is called. */
  freed(): Promise<void>
  wake(): void
}

/** Places up to `limit()`, which is read each time. */
export function createSlots(limit: () => number): Slots {
  let taken = 0
  let waiting: { promise: Promise<void>; resolve: () => void } | null = null
  const wake = (): void => {
    waiting?.resolve()
    waiting = null
  }
  return {
    free: () => Math.max(0, limit() - taken),
    taken: () => taken,
    take: (count) => {
      taken += count
    },
    give: (count) => {
      taken -= count
      wake()
    },
    freed: () => {
      if (waiting === null) {
        let resolve = (): void => undefined
        const promise = new Promise<void>((done) => {
          resolve = done
        })
        waiting = { promise, resolve }
      }
      return waiting.promise
    },
    wake,
  }
}
