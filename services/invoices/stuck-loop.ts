import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { startLeasedLoop } from '#shared/runtime/process/leased-loop.ts'
import { createStuckReporter, type ReportStuckDeps } from '#shared/usecases/networks/report-stuck-networks.ts'

const LEASE_MS = 30_000
/** Maximum delay of opening and closing an exception. */
const PAUSE_MS = 5_000

/**
 * Opens and closes the exceptions of networks that do not advance, in one process at a time. It runs in the `invoices` process and
 * not in a scanner, because a dead scanner reports nothing. Returns a function that ends the loop and frees the lease.
 */
export function startStuckLoop(
  deps: ReportStuckDeps & Runtime & { readonly leases: LeaseRepository },
): () => Promise<void> {
  const reporter = createStuckReporter(deps)
  return startLeasedLoop(deps, {
    id: 'stuck-networks',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    failures: 'stuck_reports_failed_total',
    failed: 'the exceptions of stuck networks could not be updated',
    round: () => reporter.run(),
  })
}
