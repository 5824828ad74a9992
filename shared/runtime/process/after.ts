import type { After } from '#shared/ports/timers.ts'

/** The machine's own timers. A pending one does not keep the process alive: whoever needs the work done waits for the work. */
export const after: After = (delayMs, run) => {
  const timer = setTimeout(run, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}
