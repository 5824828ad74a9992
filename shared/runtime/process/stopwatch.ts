import type { Stopwatch } from '#shared/ports/timers.ts'

/** The machine's monotonic clock. */
export const stopwatch: Stopwatch = () => performance.now()
