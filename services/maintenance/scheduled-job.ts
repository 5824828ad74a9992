import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { type LeasedLoopOptions, startLeasedLoop } from '#shared/runtime/process/leased-loop.ts'

/**
 * A row of the schedule: `id` names the job and its lease, `pauseMs` is the interval between two runs, `round` is one run.
 * One process of the installation runs a job at a time; another takes over at most `leaseMs` and ten seconds after the first died.
 */
export type ScheduledJob = LeasedLoopOptions

/** Runs every job at its interval. Returns a function that ends them all and frees their leases. */
export function startScheduledJobs(
  deps: Runtime & { readonly leases: LeaseRepository },
  jobs: readonly ScheduledJob[],
): () => Promise<void> {
  const stops = jobs.map((job) => startLeasedLoop(deps, job))
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}
