import { startLeasedLoop } from '#shared/runtime/leased-loop.ts'
import { keepRetention, type RetentionDeps } from '#shared/usecases/keep-retention.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

const LEASE_MS = 900_000
/** A round ends well before the lease does and goes on in the next. */
const ROUND_MS = 300_000
const PAUSE_MS = 600_000

interface LoopDeps extends RetentionDeps, Ambient {
  readonly leases: LeaseRepository
}

/** Removes what is past its life, in one process at a time. Returns a function that ends the loop and frees the lease. */
export function startRetentionLoop(deps: LoopDeps): () => Promise<void> {
  return startLeasedLoop(deps, {
    id: 'retention',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    failures: 'retention_failed_total',
    failed: 'documents past their life were not removed',
    round: async (signal) => {
      const endsAt = performance.now() + ROUND_MS
      const removed = await keepRetention(deps, () => signal.aborted || performance.now() > endsAt)
      if (removed > 0) deps.logger.info({ removed }, 'documents past their life were removed')
    },
  })
}
