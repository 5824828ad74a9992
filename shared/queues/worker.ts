import type { Runtime } from '#shared/ports/runtime.ts'
import { openBullWorker } from './bull-worker.ts'
import type { RedisConnections } from './connection.ts'
import { withDeadline } from './deadline.ts'
import { createJobTurns } from './job-turns.ts'
import { createQueueNotifier } from './queue-notifier.ts'
import type { QueueWorker, QueueWorkerOptions } from './queue-worker-options.ts'
import { createSweeper } from './sweeper.ts'
import { createWatchdog } from './watchdog.ts'

const STOP_DEADLINE_MS = 10_000

/**
 * Wake-up and sweep, the pattern of every queue: jobs wake the handler at once, and each `sweepEveryMs` a sweep queries the store
 * for work without a job. Without Redis the sweep handles its findings directly, until Redis responds again.
 */
export function createQueueWorker(redis: RedisConnections, runtime: Runtime, options: QueueWorkerOptions): QueueWorker {
  const { queue, concurrency, endsAtOnce = false } = options
  const logger = runtime.logger.child({ queue })
  let stopped: Promise<void> | undefined
  const turns = createJobTurns(options, { logger, metrics: runtime.metrics })
  const notifier = createQueueNotifier(redis, runtime)
  // One job at a time: BullMQ then begins it without asking for another first, and one that ends at once delays no other.
  const jobs = endsAtOnce ? 1 : concurrency
  const worker = openBullWorker(
    redis,
    { queue, concurrency: jobs },
    { logger, metrics: runtime.metrics },
    async (ids) => {
      watchdog.took()
      // Redis may hand out a job while this worker stops: another one gets it.
      if (stopped !== undefined) {
        for (const id of ids) notifier.notify(queue, id)
        return
      }
      // In the same turn of the event loop, so that the handler merges them.
      const taken = ids.map((id) => turns.take(id))
      if (!endsAtOnce) await Promise.all(taken)
    },
  )
  const watchdog = createWatchdog({
    redis,
    runtime,
    options,
    isBusy: () => !endsAtOnce && turns.size >= concurrency,
    replace: worker.replace,
  })
  const sweeper = createSweeper({
    redis,
    runtime,
    notifier,
    options,
    handle: turns.take,
    isRunning: turns.isRunning,
    watchdog,
  })
  const stop = async (deadlineMs: number): Promise<void> => {
    const until = performance.now() + deadlineMs
    const left = () => Math.max(0, until - performance.now())
    const swept = sweeper.stop()
    // A graceful close calls Redis and would wait for it forever; with force it returns at once and the jobs are awaited here.
    const closed = worker.close(!redis.isHealthy())
    const inTime = await withDeadline(Promise.all([swept, closed]), left())
    if (!inTime)
      logger.warn({ running: turns.size }, 'jobs were still running at the deadline; the sweep will repeat them')
    await withDeadline(turns.settled(), left())
    await notifier.close()
    worker.disconnect()
  }
  return {
    stop: (deadlineMs = STOP_DEADLINE_MS) => {
      stopped ??= stop(deadlineMs)
      return stopped
    },
  }
}
