import type { Logger, Metrics } from '#shared/ports/runtime.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'

/** Runs the handler of one queue in this process. */
export interface JobTurns {
  /**
   * Handles an id, after a running turn of the same id has ended, or at once where the handler merges concurrent calls. Never rejects: a
   * failure is logged and counted.
   */
  take(id: string): Promise<void>
  isRunning(id: string): boolean
  /** Ids that run or wait for their turn. */
  readonly size: number
  /** Resolves when every turn that has begun so far has ended. */
  settled(): Promise<unknown>
}

/** Two wake-ups of one id never run concurrently in one process, whatever their source, unless the handler merges them (`endsAtOnce`). */
export function createJobTurns(
  { queue, handle, endsAtOnce = () => false }: Pick<QueueWorkerOptions, 'queue' | 'handle' | 'endsAtOnce'>,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): JobTurns {
  const running = new Map<string, Promise<void>>()
  const run = async (id: string): Promise<void> => {
    const startedAt = performance.now()
    try {
      await handle(id)
      logger.debug({ jobId: id }, 'job done')
    } catch (error) {
      metrics.count('jobs_failed_total', { queue })
      logger.error({ err: error, jobId: id }, 'job failed; the sweep will try again')
    }
    metrics.observe('job_seconds', (performance.now() - startedAt) / 1_000, { queue })
  }
  return {
    take: async (id) => {
      const before = running.get(id)
      const begun = before === undefined || endsAtOnce() ? run(id) : before.then(() => run(id))
      // An id runs until the last of its turns has ended, whichever of them that is.
      const turn = before === undefined ? begun : Promise.all([before, begun]).then(() => undefined)
      running.set(id, turn)
      await turn
      if (running.get(id) === turn) running.delete(id)
    },
    isRunning: (id) => running.has(id),
    get size() {
      return running.size
    },
    settled: () => Promise.all(running.values()),
  }
}
