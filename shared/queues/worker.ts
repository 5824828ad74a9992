import type { Ambient } from '#shared/ports/runtime.ts'
import { openBullWorker } from './bull-worker.ts'
import type { RedisConnections } from './connection.ts'
import { withDeadline } from './deadline.ts'
import { createKicker } from './kicker.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'
import { createSweeper } from './sweeper.ts'
import { createWatchdog } from './watchdog.ts'

/** A running worker. */
export interface QueueWorker {
  /** Takes no more work, lets running jobs end for up to `deadlineMs` (default 10 s) and gives its connections back. */
  stop(deadlineMs?: number): Promise<void>
}

const STOP_DEADLINE_MS = 10_000

/**
 * Kick and sweep, the pattern of every queue: jobs wake the handler at once, and each `sweepEveryMs` a sweep asks the store
 * for what no job woke up for. Without Redis the sweep handles its findings itself and hands back as soon as Redis answers.
 */
export function createQueueWorker(redis: RedisConnections, ambient: Ambient, options: QueueWorkerOptions): QueueWorker {
  const { queue, concurrency } = options
  const logger = ambient.logger.child({ queue })
  const running = new Map<string, Promise<void>>()

  const run = async (id: string): Promise<void> => {
    const startedAt = performance.now()
    try {
      await options.handle(id)
      logger.debug({ jobId: id }, 'job done')
    } catch (error) {
      ambient.metrics.count('jobs_failed_total', { queue })
      logger.error({ err: error, jobId: id }, 'job failed; the sweep will try again')
    }
    ambient.metrics.observe('job_seconds', (performance.now() - startedAt) / 1_000, { queue })
  }
  /** Two wake-ups of one id never run at once in one process, whoever woke them. */
  const handleInTurn = async (id: string): Promise<void> => {
    const before = running.get(id)
    const turn = before === undefined ? run(id) : before.then(() => run(id))
    running.set(id, turn)
    await turn
    if (running.get(id) === turn) running.delete(id)
  }

  const kicker = createKicker(redis, ambient)
  const worker = openBullWorker(redis, options, { logger, metrics: ambient.metrics }, (id) => {
    watchdog.took()
    return handleInTurn(id)
  })
  const watchdog = createWatchdog({
    redis,
    ambient,
    options,
    isBusy: () => running.size >= concurrency,
    replace: worker.replace,
  })
  const sweeper = createSweeper({
    redis,
    ambient,
    kicker,
    options,
    handle: handleInTurn,
    isRunning: (id) => running.has(id),
    watchdog,
  })
  let stopped: Promise<void> | undefined
  const stop = async (deadlineMs: number): Promise<void> => {
    const until = performance.now() + deadlineMs
    const left = () => Math.max(0, until - performance.now())
    const swept = sweeper.stop()
    // A graceful close asks Redis and would wait for it for ever; by force it returns at once and we wait for the jobs.
    const closed = worker.close(!redis.isHealthy())
    const inTime = await withDeadline(Promise.all([swept, closed]), left())
    if (!inTime)
      logger.warn({ running: running.size }, 'jobs were still running at the deadline; the sweep will repeat them')
    await withDeadline(Promise.all(running.values()), left())
    await kicker.close()
    worker.disconnect()
  }
  return {
    stop: (deadlineMs = STOP_DEADLINE_MS) => {
      stopped ??= stop(deadlineMs)
      return stopped
    },
  }
}
