import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { Ambient } from '#shared/ports/runtime.ts'
import { startLeasedLoop } from '#shared/runtime/process/leased-loop.ts'
import { createStuckReporter, type ReportStuckDeps } from '#shared/usecases/networks/report-stuck-networks.ts'

const LEASE_MS = 30_000
/** A row opens and closes this much later than it could. */
const PAUSE_MS = 5_000

/**
 * Opens and closes the inbox rows of networks that do not advance, in one process at a time. It runs beside the clock of invoices and
 * not in a scanner, because a scanner that died reports nothing. Returns a function that ends the loop and frees the lease.
 */
export function startStuckLoop(
  deps: ReportStuckDeps & Ambient & { readonly leases: LeaseRepository },
): () => Promise<void> {
  const reporter = createStuckReporter(deps)
  return startLeasedLoop(deps, {
    id: 'stuck-networks',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    failures: 'stuck_reports_failed_total',
    failed: 'the inbox rows of stuck networks could not be kept',
    round: () => reporter.run(),
  })
}
