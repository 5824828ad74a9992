import type { Ms } from '#shared/domain/invoice/model.ts'

/** How fast a counter of failures slows down. */
export interface BackOff {
  /** So many failures have no wait. */
  readonly free: number
  /** The first wait; each further failure doubles it. */
  readonly firstWaitMs: Ms
  readonly waitMaxMs: Ms
  /** Failures are forgotten this long after the last one. */
  readonly forgottenAfterMs: Ms
}

/** Counters of failed tries: of passwords by account, browser and source, of codes by person or log-in. */
export interface LoginAttempts {
  /** Counts a try before its outcome is known, so that tries at the same time cannot slip through; the time to wait when it is refused. */
  begin(key: string, backOff: BackOff, at: Ms): Promise<{ readonly waitMs: Ms }>
  /** Counts a try that was wrong; how late it is to be answered. Refuses nothing. */
  fail(key: string, backOff: BackOff, at: Ms): Promise<{ readonly delayMs: Ms }>
  /** Forgets all failures. */
  clear(key: string): Promise<void>
}
