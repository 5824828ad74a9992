import { setTimeout as wait } from 'node:timers/promises'
import { startLeasedLoop } from '#shared/runtime/leased-loop.ts'
import { INVARIANTS } from '#shared/usecases/books-violation.ts'
import { type CheckBooksDeps, continueBooks } from '#shared/usecases/check-books.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

const LEASE_MS = 900_000
/** A part of a round ends well before the lease does; the round goes on in the next part. */
const PART_MS = 300_000
/** Whether a round is due is one small question. */
const PAUSE_MS = 60_000
/** Longer than a part, a pause and one slow batch together. */
const SILENCE_MAX_MS = 900_000

interface LoopDeps extends Omit<CheckBooksDeps, 'pause'>, Ambient {
  readonly leases: LeaseRepository
}

/**
 * Judges the books of invoices once an hour, in one process at a time; a second one would only count twice. Returns a function that
 * ends the loop and frees the lease.
 */
export function startBooksLoop(deps: LoopDeps): () => Promise<void> {
  // From the start, so that the first violation is seen as a rise.
  for (const invariant of INVARIANTS) deps.metrics.count('invariant_violation_total', { invariant }, 0)
  return startLeasedLoop(deps, {
    id: 'books',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    silenceMaxMs: SILENCE_MAX_MS,
    failures: 'books_failed_total',
    failed: 'books of invoices could not be judged',
    round: async (signal, pulse) => {
      const pause = (ms: number) => wait(ms, undefined, { signal }).catch(() => undefined)
      const endsAt = performance.now() + PART_MS
      const report = await continueBooks({ ...deps, pause }, () => {
        pulse?.beat()
        return signal.aborted || performance.now() > endsAt
      })
      if (report === null) return
      deps.logger.info({ judged: report.judged, violations: report.violations.length }, 'books of invoices were judged')
    },
  })
}
