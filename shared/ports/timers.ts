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
