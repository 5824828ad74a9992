/**
 * Runs something once, not earlier than `delayMs` from now, and returns what cancels it. Behind a port so that a
 * simulation can move time itself. What runs must not throw.
 */
export type After = (delayMs: number, run: () => void) => () => void

/**
 * Milliseconds since some fixed moment of this process. Nobody sets it and no synchronisation moves it, so that the
 * difference of two readings is a duration, whatever happens to the time of day meanwhile.
 */
export type Stopwatch = () => number
