/**
 * Queue `rates`
 *   producer         operators who request a cycle; the regular timer is in the service, so that rates continue without Redis
 *   consumer         service `rates`, one process at a time by a named lease
 *   payload          `{ id }` = `cycle`
 *   idempotency key  the constant id: one cycle waits and one runs
 *   ordering         none; a cycle publishes one snapshot under its own time
 *   retry class      none in the queue; the next cycle is the retry
 *   a lost job costs the time until the next timed cycle (15 s)
 */
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorker, StartWorker } from './queue-worker-options.ts'

/** Runs rate cycles, one at a time. */
export function createRatesWorker(
  startWorker: StartWorker,
  work: {
    /** Fetches, checks and publishes; safe to repeat. */
    runCycle(): Promise<unknown>
    /** True when the newest snapshot is old enough for the next cycle and this process may run it. */
    isDue(): Promise<boolean>
  },
): QueueWorker {
  return startWorker({
    queue: QUEUES.rates,
    concurrency: 1,
    handle: () => work.runCycle(),
    sweep: async () => ((await work.isDue()) ? ['cycle'] : []),
    sweepEveryMs: 1_000,
  })
}
