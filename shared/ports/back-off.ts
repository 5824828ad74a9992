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
