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

/** After a wrong try whose answer is late, its lane rests: so many tries a second of one source at most. */
const LANE_REST_MS = 100

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
  readonly counters: readonly { readonly key: string; readonly delay: BackOff }[]
}

/**
 * Checks one try in its turn; the answer to a wrong one waits for the longest delay of its counters. Refuses nothing. Returns what
 * `judge` returns: null = wrong. A try whose `signal` aborts before its turn is not checked, and rejects.
 */
export async function judgeSlowly<T>(
  deps: SlowDownDeps,
  { lane, counters }: TryPlace,
  judge: () => Promise<T | null>,
  signal: AbortSignal | null = null,
): Promise<T | null> {
  const checked = async () => {
    const right = await judge()
    if (right !== null) return { answer: { right, delayMs: 0 }, restMs: 0 }
    const at = deps.clock.now()
    const counted = await Promise.all(counters.map(({ key, delay }) => deps.attempts.fail(key, delay, at)))
    const delayMs = Math.max(0, ...counted.map((one) => one.delayMs))
    return { answer: { right, delayMs }, restMs: delayMs > 0 ? LANE_REST_MS : 0 }
  }
  const { right, delayMs } = await deps.lanes.judge(lane, checked, signal)
  if (delayMs > 0) await new Promise<void>((resolve) => void deps.after(delayMs, resolve))
  return right
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
