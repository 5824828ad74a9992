import type { LimitedBy } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

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
  /** Places that this process may still take without asking the queue, for first attempts and its own turns; below 1 when none. */
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
 * The concurrency of one endpoint: it follows the receiver, as the table at `createLearnedLimit` says.
 *
 * `processes()` is how many processes send: of several, each has one half of the most for a turn out of the queue, of which there is one at a
 * time, and the one that relays the other half, for first attempts; a lone process has the whole for both. A turn that ends
 * leaves its last requests in flight, and for their duration the next one's may come on top: all of them measure the same
 * receiver, and come down. `bounds` are those of this process's lanes. Times are readings of one stopwatch: no step of a clock moves them.
 */
export function createDeliveryCap(processes: () => number, bounds: LaneBounds): DeliveryCap {
  const learned = createLearnedLimit(Math.max(LOWEST, Math.ceil(START / processes())), () => processes() === 1)
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

/** No process has less. */
const LOWEST = 1
/** Latency above this multiple of the base is a sign that the receiver has as much as it can do at once. */
const SIGN_FACTOR = 2
/** Durations of a window: as many as the limit, within these bounds. */
const WINDOW_MIN = 16
const WINDOW_LOWEST = 4
const WINDOW_MAX = 32
/** After latency brought the limit down it stays for this long before it probes again. */
const HOLD_MS = 30_000
/** Latency above the sign takes away this much of the limit: half would be just what the receiver does at once, and a queue of ours would stay. */
const DRAINED = 3 / 8
/** The base moves by this part of the difference with each window. */
const FORGET = 8
/** Latency that fell by less than this while the limit fell to a quarter was not caused by the limit. */
const UNMOVED = 0.75

/** A successful answer. */
interface Success {
  readonly startedAt: Ms
  readonly at: Ms
  /** At the time of the answer, itself included. */
  readonly inFlight: number
  /** The most that the limit may become now. */
  readonly highest: number
}

/** A limit of requests in flight that follows the answers. */
interface LearnedLimit {
  limit(): number
  /** What the receiver takes on average when it is not busy with ours; null before the first window. */
  baseMs(): Ms | null
  /** Mean of the latest window; null before the first. */
  latencyMs(): Ms | null
  /** True when a failure and not the latency brought the limit down last, and nothing has raised it since. */
  isFailing(): boolean
  succeed(success: Success): void
  /** A sign that the receiver has too much to do, other than its latency. */
  fail(startedAt: Ms, at: Ms): void
}

/**
 * The limit follows the receiver, whatever its speed, as this process alone measures it, from `start` on. A window is the successful
 * answers to requests that began since the limit last moved in a step: as many as the limit, 16 to 32 after the start, and 4 at a limit of 1. It is compared with the
 * base: what the receiver takes when it is not busy with ours. Above 2 × or below half of it is a window of which both the median and the mean are: a shop that
 * ignores some types of events and works on others answers in 5 or in 700 ms, and which of them a window has more of is no sign. A round
 * is as many answers as were in flight; it is full when that was at least half of the limit. What is not in the table changes nothing.
 *
 * | event | start | growing | held for 30 s |
 * |---|---|---|---|
 * | a full round, the last window within 2 × base | limit × 2 | limit + 1 | – |
 * | a second window in a row above 2 × base: this process or others fill the receiver | limit × 3/8, → held | limit × 3/8, → held | limit × 3/8, held on |
 * | the same when the limit fell to a quarter and the latency stayed: the receiver has become slower | – | – | limit as before, base = window, → growing |
 * | the same at a limit of 1, where no queue is ours | base = window, → growing | base = window | base = window, → growing |
 * | time-out, no connection, 429, 502, 503, 504 | limit / 2, → growing | limit / 2 | limit / 2 |
 * | 500 and any other answer that is no success; nothing in flight, for however long | – | – | – |
 * | a window below half of the base (a cold start is over) | base = window | base = window | base = window |
 * | a window below the base | base moves an eighth of the way | the same | the same |
 * | a window above the base, at most 2 × base | – | only if the round was not full | base moves an eighth of the way, if no other process sends |
 *
 * What was in flight when the limit fell says nothing about the lower one, so it halves once for all of it. Above 2 × base twice as much
 * is in flight as the receiver does at once: 3/8 of it leaves no queue of ours, so the base that is measured then is
 * the receiver's own, and cannot creep up with what it bounds; of several processes the others may still have a queue there.
 */
function createLearnedLimit(start: number, isLone: () => boolean): LearnedLimit {
  const state: State = {
    isLone,
    ...{ limit: start, isStarting: true, isFailing: false, base: null, latency: null },
    ...{ changedAt: Number.NEGATIVE_INFINITY, holdUntil: Number.NEGATIVE_INFINITY },
    ...{ window: [], isMeasured: false, suspected: null, round: NO_ROUND, crowded: null },
  }
  return {
    limit: () => state.limit,
    baseMs: () => state.base?.mean ?? null,
    latencyMs: () => state.latency,
    isFailing: () => state.isFailing,
    succeed: (success) => succeed(state, success),
    fail: (startedAt, at) => {
      state.isFailing = true
      state.isStarting = false
      if (startedAt < state.changedAt) return
      change(state, Math.floor(state.limit / 2), at)
      state.crowded = null
    },
  }
}

/** Of several answers, milliseconds. */
interface Latency {
  readonly median: Ms
  readonly mean: Ms
}

interface Round {
  readonly answers: number
  /** At most, at the time of an answer. */
  readonly inFlight: number
  readonly isFull: boolean
}

const NO_ROUND: Round = { answers: 0, inFlight: 0, isFull: false }

interface State {
  /** Whether no other process sends: in a hold, then, no queue of ours is left. */
  readonly isLone: () => boolean
  limit: number
  isStarting: boolean
  isFailing: boolean
  base: Latency | null
  latency: Ms | null
  /** Answers to requests that began before say nothing about the limit. */
  changedAt: Ms
  holdUntil: Ms
  window: Ms[]
  /** A window within 2 × base was the last one, and of this limit. */
  isMeasured: boolean
  /** A window above 2 × base; the next one decides. */
  suspected: Latency | null
  round: Round
  /** The limit and latency of the first sign, until latency is within 2 × base again. */
  crowded: { readonly limit: number; readonly latencyMs: Ms } | null
}

function succeed(state: State, success: Success): void {
  const { startedAt, at, inFlight } = success
  if (startedAt < state.changedAt) return
  const { round } = state
  state.window.push(at - startedAt)
  state.round = {
    answers: round.answers + 1,
    inFlight: Math.max(round.inFlight, inFlight),
    isFull: round.isFull || 2 * inFlight >= state.limit,
  }
  if (state.window.length >= windowOf(state) && isCrowded(state, at)) return
  if (state.round.answers < state.round.inFlight) return
  if (state.round.isFull && state.isMeasured && at >= state.holdUntil) grow(state, success)
  state.round = NO_ROUND
}

/** At the lowest limit nothing can be taken away, so few answers are enough. */
function windowOf({ limit, isStarting }: State): number {
  if (limit === LOWEST) return WINDOW_LOWEST
  return Math.min(isStarting ? limit : Math.max(limit, WINDOW_MIN), WINDOW_MAX)
}

/** Ends the window; true when the limit came down, or would have if it was the cause. */
function isCrowded(state: State, at: Ms): boolean {
  const { suspected, base } = state
  const latency = latencyOf(state.window)
  state.window = []
  if (base === null || !isAbove(latency, base)) {
    const isHeld = at < state.holdUntil
    measure(state, latency, isHeld ? state.isLone() : !state.round.isFull)
    return false
  }
  state.suspected = latency
  state.isMeasured = false
  if (suspected === null) return false
  slowDown(state, suspected.mean < latency.mean ? suspected : latency, at)
  return true
}

/** `isAlone`: no queue of ours can be in it. */
function measure(state: State, latency: WindowLatency, isAlone: boolean): void {
  const { base } = state
  const moved = (from: Ms, to: Ms): Ms => (to < from || isAlone ? from + (to - from) / FORGET : from)
  state.base =
    base === null || isBelow(latency, base)
      ? latency
      : { median: moved(base.median, latency.median), mean: moved(base.mean, latency.mean) }
  state.latency = latency.mean
  state.isMeasured = true
  state.suspected = null
  state.crowded = null
}

function slowDown(state: State, latency: Latency, at: Ms): void {
  const { limit } = state
  const crowded = state.crowded ?? { limit, latencyMs: latency.mean }
  Object.assign(state, { isStarting: false, isFailing: false, latency: latency.mean })
  const isUnmoved = latency.mean >= UNMOVED * crowded.latencyMs && 4 * limit <= crowded.limit
  if (!isUnmoved && limit > LOWEST) {
    state.crowded = crowded
    state.holdUntil = at + HOLD_MS
    change(state, Math.floor(limit * DRAINED), at)
  } else {
    state.base = latency
    state.crowded = null
    state.holdUntil = at
    change(state, isUnmoved ? crowded.limit : limit, at)
  }
}

function grow(state: State, { at, highest }: Success): void {
  state.isFailing = false
  const to = Math.min(highest, state.isStarting ? 2 * state.limit : state.limit + 1)
  if (to <= state.limit) return
  if (state.isStarting) change(state, to, at)
  else state.limit = to
}

function change(state: State, limit: number, at: Ms): void {
  Object.assign(state, { limit: Math.max(LOWEST, limit), changedAt: at, window: [], round: NO_ROUND })
  Object.assign(state, { isMeasured: false, suspected: null })
}

/** A window's, with the standard error of its mean. */
interface WindowLatency extends Latency {
  readonly scatter: Ms
}

const isAbove = ({ median, mean }: Latency, base: Latency): boolean =>
  median > SIGN_FACTOR * base.median && mean > SIGN_FACTOR * base.mean

const isBelow = ({ median, mean, scatter }: WindowLatency, base: Latency): boolean =>
  SIGN_FACTOR * median < base.median && SIGN_FACTOR * (mean + scatter) < base.mean

function latencyOf(window: readonly Ms[]): WindowLatency {
  const sorted = [...window].sort((left, right) => left - right)
  const mean = window.reduce((sum, ms) => sum + ms, 0) / window.length
  const variance = window.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / window.length
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? mean
  return { median, mean, scatter: Math.sqrt(variance / window.length) }
}
