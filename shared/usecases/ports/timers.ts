/**
 * Runs something once, not earlier than `delayMs` from now, and returns what cancels it. Behind a port so that a
 * simulation can move time itself. What runs must not throw.
 */
export type After = (delayMs: number, run: () => void) => () => void
