import type { After, Stopwatch } from '#shared/ports/timers.ts'

/** The machine's monotonic clock. */
export const stopwatch: Stopwatch = () => performance.now()

/** The machine's own timers. Pending timers do not keep the process alive; callers that need the work done must await it. */
export const after: After = (delayMs, run) => {
  const timer = setTimeout(run, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}
