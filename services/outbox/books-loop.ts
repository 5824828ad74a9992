import { setTimeout as wait } from 'node:timers/promises'
import { INVARIANTS } from '#shared/usecases/books-violation.ts'
import { type CheckBooksDeps, continueBooks } from '#shared/usecases/check-books.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

const LEASE_ID = 'books'
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
  const owner = deps.random.uuid()
  const stop = new AbortController()
  const pulse = deps.pulses?.start('books', SILENCE_MAX_MS)
  const pause = async (ms: number): Promise<void> => {
    await wait(ms, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  // From the start, so that the first violation is seen as a rise.
  for (const invariant of INVARIANTS) deps.metrics.count('invariant_violation_total', { invariant }, 0)

  const round = async (): Promise<void> => {
    if (!(await deps.leases.acquire(LEASE_ID, owner, LEASE_MS))) return
    const endsAt = performance.now() + PART_MS
    const report = await continueBooks({ ...deps, pause }, () => {
      pulse?.beat()
      return stop.signal.aborted || performance.now() > endsAt
    })
    if (report === null) return
    deps.logger.info({ judged: report.judged, violations: report.violations.length }, 'books of invoices were judged')
  }

  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      pulse?.beat()
      try {
        await round()
      } catch (error) {
        deps.metrics.count('books_failed_total')
        deps.logger.error({ err: error }, 'books of invoices could not be judged')
      }
      await pause(PAUSE_MS)
    }
    await deps.leases.release(LEASE_ID, owner).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'the lease of the books was not freed')
    })
  }

  const running = loop()
  return async () => {
    stop.abort()
    pulse?.end()
    await running
  }
}
