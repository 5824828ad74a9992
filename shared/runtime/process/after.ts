import type { After } from '#shared/ports/timers.ts'

/** The machine's own timers. Pending timers do not keep the process alive; callers that need the work done must await it. */
export const after: After = (delayMs, run) => {
  const timer = setTimeout(run, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}
