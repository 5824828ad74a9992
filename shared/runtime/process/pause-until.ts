import type { Ms } from '#shared/domain/invoice/model.ts'
import type { CommonPauses } from '#shared/ports/timers.ts'

/** Short pauses end together with those of other loops. A long one is also a rest for the store: it must not become shorter. */
const COMMON_MAX_MS = 2_000

/** The pause of a loop between two rounds: resolves after `ms` or when `signal` aborts. Uses the global timer, which a simulation can advance. */
export function pauseUntil(ms: Ms, signal: AbortSignal, pauses: CommonPauses | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = pauses !== undefined && ms <= COMMON_MAX_MS ? pauses.begin(ms, ms, done) : pauseAlone(ms, done)
    signal.addEventListener('abort', done, { once: true })
  })
}

function pauseAlone(ms: Ms, resume: () => void): () => void {
  const timer = setTimeout(resume, ms)
  return () => clearTimeout(timer)
}
