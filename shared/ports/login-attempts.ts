import type { Ms } from '#shared/domain/invoice/model.ts'

/** How the delay grows with the number of failures. */
export interface BackOff {
  /** This many failures have no wait. */
  readonly free: number
  /** The first wait; each further failure doubles it. */
  readonly firstWaitMs: Ms
  readonly waitMaxMs: Ms
  /** Failures are dropped this long after the last one. */
  readonly forgottenAfterMs: Ms
}

/** Counters of failed tries: of passwords by account, browser and source, of codes by person or login. */
export interface LoginAttempts {
  /** Counts a try before its outcome is known, so that concurrent tries cannot slip through; returns the wait if it is refused. */
  begin(key: string, backOff: BackOff, at: Ms): Promise<{ readonly waitMs: Ms }>
  /** Counts a wrong try; returns the delay of its response. Refuses nothing. */
  fail(key: string, backOff: BackOff, at: Ms): Promise<{ readonly delayMs: Ms }>
  /** Drops all failures. */
  clear(key: string): Promise<void>
}
