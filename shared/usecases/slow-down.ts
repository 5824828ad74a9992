import { PaymeshError } from '#shared/contracts/errors.ts'
import type { BackOff, LoginAttempts } from './ports/operators.ts'
import type { Clock } from './ports/runtime.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

/** Never more than a quarter of an hour: nobody can lock somebody else out for good. */
const WAIT_MAX_MS = 15 * MINUTE_MS
/** Tries of one account from browsers it does not know, of one browser that it knows, or of one second factor. */
export const ACCOUNT_BACK_OFF: BackOff = {
  free: 5,
  firstWaitMs: 1_000,
  waitMaxMs: WAIT_MAX_MS,
  forgottenAfterMs: DAY_MS,
}
/** Tries from one address; offices share one. */
export const ADDRESS_BACK_OFF: BackOff = {
  free: 20,
  firstWaitMs: 1_000,
  waitMaxMs: WAIT_MAX_MS,
  forgottenAfterMs: DAY_MS,
}

/** Counts a try, or throws `RATE_LIMITED` with the seconds to wait. What is counted stays counted until it is forgiven. */
export async function countTry(
  { attempts, clock }: { readonly attempts: Pick<LoginAttempts, 'begin'>; readonly clock: Clock },
  key: string,
  backOff: BackOff,
): Promise<void> {
  const { waitMs } = await attempts.begin(key, backOff, clock.now())
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1_000)
  throw new PaymeshError('RATE_LIMITED', {
    message: `Too many tries. Try again in ${seconds} s.`,
    details: [{ path: 'retryAfter', message: String(seconds) }],
  })
}
