import type { Ms } from '#shared/domain/invoice/model.ts'

/**
 * Runs something once, not earlier than `delayMs` from now, and returns a function that cancels it. Behind a port so that a
 * simulation can control time. The callback must not throw.
 */
export type After = (delayMs: number, run: () => void) => () => void

/**
 * Milliseconds since some fixed moment of this process. It is never set or synchronised, so the
 * difference of two readings is a duration, whatever happens to the system time meanwhile.
 */
export type Stopwatch = () => number

/**
 * Pauses of one process that end together: loops of one interval begin their rounds in the same turn of the event loop, so that what they ask
 * the store becomes one question. A loop that begins its pause while another one of that interval waits is resumed with it; a round that hangs
 * delays no other.
 */
export interface CommonPauses {
  /** Calls `resume` once: after `delayMs`, or earlier together with the loops that wait already. The returned function cancels it. Neither may throw. */
  begin(everyMs: Ms, delayMs: Ms, resume: () => void): () => void
}
