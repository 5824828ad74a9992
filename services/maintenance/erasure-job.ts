import type { CustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { sweepErasures } from '#shared/usecases/maintenance/erase-customer.ts'
import type { ScheduledJob } from './scheduled-job.ts'

const BATCH = 100

/** Erases the last copies of a customer's data once they are no longer needed. A second process does no harm. */
export function erasureJob(deps: { readonly eraser: CustomerEraser; readonly clock: Clock }): ScheduledJob {
  return {
    id: 'customer-erasures',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'copies of erased customers were not removed',
    round: async (signal) => {
      while (!signal.aborted && (await sweepErasures(deps, BATCH)) > 0);
    },
  }
}
