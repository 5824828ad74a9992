import { PaymeshError } from '#shared/contracts/errors.ts'
import type { BackOff, LoginAttempts } from '#shared/ports/login-attempts.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { After } from '#shared/ports/timers.ts'
import type { TryLanes } from '#shared/ports/try-lanes.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

/** Wrong passwords of one account from browsers it does not know, or of one browser that it knows: never more than 5 s. */
export const ACCOUNT_DELAY: BackOff = { free: 5, firstWaitMs: 1_000, waitMaxMs: 5_000, forgottenAfterMs: DAY_MS }
/** Wrong passwords from one source; offices share one. */
export const SOURCE_DELAY: BackOff = {
  free: 20,
  firstWaitMs: 1_000,
  waitMaxMs: 30_000,
  forgottenAfterMs: 60 * MINUTE_MS,
}
/** Six digits can be guessed, so a code waits before it is judged; what the waits allow is in decision 0053. */
export const CODE_BACK_OFF: BackOff = {
  free: 5,
  firstWaitMs: 1_000,
  waitMaxMs: 15 * MINUTE_MS,
  forgottenAfterMs: DAY_MS,
}

/** Tries of one source, and of one browser that the account knows, which may be judged or wait for their answer at once. */
export const SOURCE_PLACES = 10
export const BROWSER_PLACES = 2

/** What slowing tries of a password down needs. */
export interface SlowDownDeps {
  readonly attempts: Pick<LoginAttempts, 'fail'>
  readonly clock: Clock
  readonly lanes: TryLanes
  readonly after: After
}

/** Where a try counts: its lane, and the counters of wrong tries with the wait that each asks for. */
export interface TryPlace {
  readonly lane: string
  readonly places: number
  readonly counters: readonly { readonly key: string; readonly delay: BackOff }[]
}

/**
 * Judges one try at once; the answer to a wrong one waits for the longest delay of its counters, and holds its place in the lane
 * until then, whether or not its client still listens. Returns what `judge` returns: null = wrong. Throws `RATE_LIMITED`, without
 * judging, when all places of the lane are taken.
 */
export async function judgeSlowly<T>(
  deps: SlowDownDeps,
  { lane, places, counters }: TryPlace,
  judge: () => Promise<T | null>,
): Promise<T | null> {
  const leave = deps.lanes.enter(lane, places)
  if (leave === null) {
    const message = 'Too many wrong tries are waiting for their answer. Try again in a few seconds.'
    throw new PaymeshError('RATE_LIMITED', { message, details: [{ path: 'retryAfter', message: '5' }] })
  }
  try {
    const right = await judge()
    if (right !== null) return right
    const at = deps.clock.now()
    const counted = await Promise.all(counters.map(({ key, delay }) => deps.attempts.fail(key, delay, at)))
    const delayMs = Math.max(0, ...counted.map((one) => one.delayMs))
    if (delayMs > 0) await new Promise<void>((resolve) => void deps.after(delayMs, resolve))
    return null
  } finally {
    leave()
  }
}

/**
 * Counts the try of a code before it is judged, or throws `RATE_LIMITED` with the seconds to wait. What is counted stays counted
 * until the counter is cleared.
 */
export async function countCode(
  { attempts, clock }: { readonly attempts: Pick<LoginAttempts, 'begin'>; readonly clock: Clock },
  key: string,
): Promise<void> {
  const { waitMs } = await attempts.begin(key, CODE_BACK_OFF, clock.now())
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1_000)
  throw new PaymeshError('RATE_LIMITED', {
    message: `Too many tries. Try again in ${seconds} s.`,
    details: [{ path: 'retryAfter', message: String(seconds) }],
  })
}
