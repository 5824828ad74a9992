import { tooMany } from '#shared/contracts/errors.ts'
import type { LoginAttempts } from '#shared/db/accounts/login-attempts.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { BackOff } from '#shared/ports/back-off.ts'
import type { HashingLimiter } from '#shared/ports/hashing-limiter.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { Origin } from './account-deps.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

/** Wrong passwords of one account from unrecognized browsers, or from one recognized browser: never more than 5 s. */
export const ACCOUNT_DELAY: BackOff = { free: 5, firstWaitMs: 1_000, waitMaxMs: 5_000, forgottenAfterMs: DAY_MS }
/** Wrong passwords from one source; an office may share one. */
export const SOURCE_DELAY: BackOff = SCARCE.passwordTries.budget
/** Six digits can be guessed, so each code waits before it is checked; decision 0053 says what these waits allow. */
export const CODE_BACK_OFF: BackOff = {
  free: 5,
  firstWaitMs: 1_000,
  waitMaxMs: 15 * MINUTE_MS,
  forgottenAfterMs: DAY_MS,
}

/** After a wrong try with a delayed response, its lane pauses: this bounds the tries per second of one source. */
const LANE_REST_MS = 100

/** Dependencies of throttling password tries. */
export type SlowDownDeps = Uses<'clock' | 'after'> & {
  readonly attempts: Pick<LoginAttempts, 'fail'>
  readonly lanes: HashingLimiter
}

/** Where a try counts: its lane, and the counters of wrong tries with the delay each of them adds. */
export interface TryPlace {
  readonly lane: string
  readonly counters: readonly { readonly key: string; readonly delay: BackOff }[]
}

/** Who tries a secret. If `signal` aborts before the try's turn, it is not checked and rejects: who hangs up waits in no lane. */
export interface LoginTry {
  readonly origin: Origin
  readonly signal?: AbortSignal | null | undefined
}

/**
 * Checks one try in its turn; the response to a wrong one waits for the longest delay of its counters. Refuses nothing. Returns what
 * `check` returns: null = wrong. A try whose `signal` aborts before its turn is not checked, and rejects.
 */
export async function evaluateSlowly<T>(
  deps: SlowDownDeps,
  { lane, counters }: TryPlace,
  evaluate: () => Promise<T | null>,
  signal: AbortSignal | null = null,
): Promise<T | null> {
  const checked = async () => {
    const right = await evaluate()
    if (right !== null) return { answer: { right, delayMs: 0 }, restMs: 0 }
    const at = deps.clock.now()
    const counted = await Promise.all(counters.map(({ key, delay }) => deps.attempts.fail(key, delay, at)))
    const delayMs = Math.max(0, ...counted.map((one) => one.delayMs))
    return { answer: { right, delayMs }, restMs: delayMs > 0 ? LANE_REST_MS : 0 }
  }
  const { right, delayMs } = await deps.lanes.evaluate(lane, checked, signal)
  if (delayMs > 0) await new Promise<void>((resolve) => void deps.after(delayMs, resolve))
  return right
}

/**
 * Counts a code try before it is checked, or throws `RATE_LIMITED` with the seconds to wait. A counted try stays counted
 * until the counter is cleared.
 */
export async function countCode(
  { attempts, clock }: { readonly attempts: Pick<LoginAttempts, 'begin'>; readonly clock: Clock },
  key: string,
): Promise<void> {
  const { waitMs } = await attempts.begin(key, CODE_BACK_OFF, clock.now())
  if (waitMs > 0) throw tooMany('attempts', waitMs)
}
