import type { Logger, Metrics } from '#shared/ports/runtime.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'

/** Runs the handler of one queue in this process. Two wake-ups of one id never run concurrently in one process, whatever their source, unless the handler merges them (`endsAtOnce`). */
export function createJobTurns(
  { queue, handle, endsAtOnce = false }: Pick<QueueWorkerOptions, 'queue' | 'handle' | 'endsAtOnce'>,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
) {
  const running = new Map<string, Promise<void>>()
  /** What the handler returned last for an id, and the turn that waits for it. */
  const calls = new Map<string, { readonly work: Promise<unknown>; readonly turn: Promise<void> }>()
  const begun = (id: string): Promise<unknown> => {
    try {
      return handle(id)
    } catch (error) {
      return Promise.reject(error)
    }
  }
  const settled = async (id: string, work: Promise<unknown>): Promise<void> => {
    const startedAt = performance.now()
    try {
      await work
      logger.debug({ jobId: id }, 'job done')
    } catch (error) {
      metrics.count('jobs_failed_total', { queue })
      logger.error({ err: error, jobId: id }, 'job failed; the sweep will try again')
    }
    metrics.observe('job_seconds', (performance.now() - startedAt) / 1_000, { queue })
    if (calls.get(id)?.work === work) calls.delete(id)
  }
  /** A handler that merges concurrent calls returns the same promise for them: they are one turn, however many they are. */
  const run = (id: string): Promise<void> => {
    const work = begun(id)
    const last = calls.get(id)
    if (last?.work === work) return last.turn
    const turn = settled(id, work)
    calls.set(id, { work, turn })
    return turn
  }
  const follow = async (id: string, turn: Promise<void>): Promise<void> => {
    await turn
    if (running.get(id) === turn) running.delete(id)
  }
  return {
    /**
     * Handles an id, after a running turn of the same id has ended, or at once where the handler merges concurrent calls. Never rejects: a
     * failure is logged and counted.
     */
    take: (id: string) => {
      const before = running.get(id)
      const merged = calls.get(id)?.turn
      const next = before === undefined || endsAtOnce ? run(id) : before.then(() => run(id))
      if (before !== undefined && next === merged) return before
      // An id runs until the last of its turns has ended, whichever of them that is.
      const turn = before === undefined ? next : Promise.all([before, next]).then(() => undefined)
      running.set(id, turn)
      return follow(id, turn)
    },
    isRunning: (id: string) => running.has(id),
    /** Ids that run or wait for their turn. */
    get size() {
      return running.size
    },
    /** Resolves when every turn that has begun so far has ended. */
    settled: () => Promise.all(running.values()),
  }
}
