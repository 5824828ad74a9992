import type { LimitedBy } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { createLearnedLimit, LOWEST } from './learned-limit.ts'
import { createSlots, type Slots } from './slots.ts'

/** How many requests to an endpoint may be in flight from all processes before anything is known of it. */
const START = 4
/** An endpoint counts as slow for this long after a time-out. */
const SLOW_FOR_MS = 60_000
/** One place serves less than one delivery a second above it. */
const QUICK_MS = 1_000

/** Faults and answers of a receiver that has too much to do, besides the time-out. */
const SIGNS: ReadonlySet<string> = new Set([
  ...['refused', 'unreachable', 'reset', 'network'],
  ...['status_429', 'status_502', 'status_503', 'status_504'],
])

/** The result of one request as the cap reads it. */
export interface AnswerTime {
  /** Null for a 2xx; otherwise the code of the fault, `timeout`, or `status_` and the status. */
  readonly error: string | null
  readonly durationMs: number
}

/** The most that one endpoint may have in flight, by the lane that serves it and by what is known of its speed. */
export interface LaneBounds {
  /** In the normal lane, of an endpoint that answers within a second. */
  readonly quick: number
  /** In the normal lane, of one that takes longer or has not answered yet. */
  readonly patient: number
  readonly slow: number
}

/** The concurrency of one endpoint as this process learned it. */
export interface DeliveryCap {
  readonly slots: Slots
  /** Current bound of `slots`, which a turn out of the queue may fill. */
  limit(): number
  /** Places that this process may still take without asking the queue, for first attempts and turns of its own; below 1 when none. */
  ownRoom(): number
  /** The most that the endpoint or else the installation allows; until it is set one request is in flight. */
  setHighest(highest: number): void
  /** The result of one request that took a place and has given it back. */
  record(answer: AnswerTime, at: Ms): void
  /** True within a minute after a time-out: such an endpoint uses the slow lane, so that it cannot exhaust the normal one. */
  isSlow(at: Ms): boolean
  /** True once the receiver is known to answer within a second. */
  isQuick(): boolean
  /** What this process measured, for metrics and people. */
  speed(): LimitedBy
  /** True when nothing is in flight and the endpoint is not slow: dropping the entry loses only what was learned. */
  isIdle(at: Ms): boolean
}

/**
 * The concurrency of one endpoint: it follows the receiver, as the table of `learned-limit.ts` says.
 *
 * `processes()` is how many processes send: of several, each has one half of the most for a turn out of the queue, of which there is one at a
 * time, and the one that relays the other half, for first attempts; a lone process has the whole for both. A turn that ends
 * leaves its last requests in flight, and for their duration the next one's may come on top: all of them measure the same
 * receiver, and come down. `bounds` are those of this process's lanes.
 */
export function createDeliveryCap(processes: () => number, bounds: LaneBounds): DeliveryCap {
  const learned = createLearnedLimit(Math.max(LOWEST, Math.ceil(START / processes())))
  let highest = LOWEST
  let slowUntil = 0
  let latest: Ms = 0
  const isQuick = () => (learned.baseMs() ?? Number.POSITIVE_INFINITY) <= QUICK_MS
  const bound = () => Math.min(highest, latest < slowUntil ? bounds.slow : isQuick() ? bounds.quick : bounds.patient)
  const half = () => (processes() > 1 ? Math.ceil(bound() / 2) : bound())
  const share = () => (processes() > 1 ? Math.floor(bound() / 2) : bound())
  const limit = () => Math.max(LOWEST, Math.min(learned.limit(), half()))
  const slots = createSlots(limit)
  return {
    slots,
    limit,
    ownRoom: () => Math.min(slots.free(), Math.max(LOWEST, share()) - slots.taken()),
    setHighest: (value) => {
      highest = value
    },
    record: ({ error, durationMs }, at) => {
      latest = Math.max(latest, at)
      if (error === 'timeout') slowUntil = at + SLOW_FOR_MS
      const startedAt = at - durationMs
      if (error === null) learned.succeed({ startedAt, at, inFlight: slots.taken() + 1, highest: half() })
      else if (error === 'timeout' || SIGNS.has(error)) learned.fail(startedAt, at)
    },
    isSlow: (at) => at < slowUntil,
    isQuick,
    speed: () => ({ limit: limit(), latencyMs: learned.latencyMs(), isFailing: learned.isFailing() }),
    isIdle: (at) => slots.taken() === 0 && at >= slowUntil,
  }
}
