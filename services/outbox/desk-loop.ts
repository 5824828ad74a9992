import { startLeasedLoop } from '#shared/runtime/leased-loop.ts'
import { sweepErasures } from '#shared/usecases/erase-customer.ts'
import type { CustomerEraser } from '#shared/usecases/ports/customer-eraser.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'
import { type DigestDeps, sendDigests } from '#shared/usecases/send-digests.ts'

const LEASE_MS = 150_000
/** Both are questions of hours. */
const PAUSE_MS = 60_000
const ERASE_BATCH = 100

interface LoopDeps extends DigestDeps, Ambient {
  readonly eraser: CustomerEraser
  readonly leases: LeaseRepository
}

/**
 * Mails what waits in each inbox once a day, and erases copies of customers once they are no longer needed, in one process at a time;
 * a second one would do no harm. Returns a function that ends the loop and frees the lease.
 */
export function startDeskLoop(deps: LoopDeps): () => Promise<void> {
  return startLeasedLoop(deps, {
    id: 'operators-desk',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    failures: 'operators_desk_failed_total',
    failed: 'daily mails or erasures failed',
    round: async (signal) => {
      await sendDigests(deps)
      while (!signal.aborted && (await sweepErasures(deps, ERASE_BATCH)) > 0);
    },
  })
}
