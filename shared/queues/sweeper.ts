import type { QueueNotifier, Runtime } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'
import type { Watchdog } from './watchdog.ts'

/** Dependencies of a sweeper on its worker. */
export interface SweeperDeps {
  /** Whether wake-ups reach their workers now. */
  readonly redis: Pick<RedisConnections, 'isHealthy' | 'unhealthyForMs'>
  readonly runtime: Runtime
  readonly notifier: QueueNotifier
  readonly options: QueueWorkerOptions
  handle(id: string): Promise<void>
  isRunning(id: string): boolean
  readonly watchdog: Pick<Watchdog, 'isIdle' | 'look'>
}

/** Keeps the sweeps of many processes from synchronising. */
const JITTER = 0.2
const DEGRADED_AFTER_MS = 3_000
/** A sweep that hangs for longer than this while the store responds has died. */
const SILENCE_MAX_MS = 60_000
/** An id found by this many sweeps: waking its worker had no effect. */
const STUBBORN_SWEEPS = 10
/** An id missing from more than this many consecutive sweeps is done. Fewer prove nothing: an id may skip a sweep. */
const DONE_SWEEPS = 3

/**
 * Queries the store periodically for work whose wake-up was lost. Its findings are woken and counted in
 * `sweeper_rescued_total`, which stays near zero while wake-ups arrive; while Redis is unavailable they are handled here, at most
 * `concurrency` at a time. Ids that already run in this process are left to that run. If the same id keeps turning up
 * while this worker is idle, it is handled here as well: Redis accepts wake-ups but does not deliver them (a paused queue, for example).
 */
export function createSweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  const { redis, runtime, options } = deps
  const { queue } = options
  const logger = runtime.logger.child({ queue })
  let stopping = false
  let wake: () => void = () => undefined
  let degraded = false
  const stubbornOf = createObservations()
  const pulse = runtime.pulses?.start(`sweep:${queue}`, SILENCE_MAX_MS + 3 * options.sweepEveryMs)

  const pause = (): Promise<void> => {
    const [byte = 0] = runtime.random.bytes(1)
    const { sweepEveryMs } = options
    const delayMs = sweepEveryMs * (1 - JITTER + (2 * JITTER * byte) / 255)
    return new Promise((resolve) => {
      const cancel = runtime.pauses?.begin(sweepEveryMs, delayMs, resolve) ?? pauseAlone(delayMs, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })
  }

  const setDegraded = (next: boolean): void => {
    if (next === degraded) return
    degraded = next
    runtime.metrics.gauge('queue_degraded', next ? 1 : 0, { queue })
    if (next) logger.warn({}, 'working without redis')
    else logger.info({}, 'working with redis again')
  }

  const round = async (): Promise<void> => {
    setDegraded(redis.unhealthyForMs() >= (options.degradedAfterMs ?? DEGRADED_AFTER_MS))
    const found = (await options.sweep()).filter((id) => !deps.isRunning(id))
    if (!degraded) await deps.watchdog.look()
    const stubborn = stubbornOf(found)
    if (found.length === 0 || stopping) return
    if (degraded) {
      await handleAll(found)
    } else if (redis.isHealthy()) {
      runtime.metrics.count('sweeper_rescued_total', { queue }, found.length)
      for (const id of found) deps.notifier.notify(queue, id)
      if (stubborn.length > 0 && deps.watchdog.isIdle()) {
        runtime.metrics.count('sweeper_handled_total', { queue }, stubborn.length)
        await handleAll(stubborn)
      }
    }
  }

  const handleAll = async (ids: readonly string[]): Promise<void> => {
    const left = [...ids]
    const next = async (): Promise<void> => {
      for (let id = left.shift(); id !== undefined && !stopping; id = left.shift()) {
        pulse?.beat()
        await deps.handle(id)
      }
    }
    await Promise.all(Array.from({ length: Math.min(options.concurrency, left.length) }, next))
  }

  const loop = async (): Promise<void> => {
    while (!stopping) {
      pulse?.beat()
      try {
        await round()
      } catch (error) {
        runtime.metrics.count('sweeps_failed_total', { queue })
        logger.error({ err: error }, 'sweep failed')
      }
      if (!stopping) await pause()
    }
  }
  const ended = loop()
  return {
    stop: () => {
      stopping = true
      // Another process may continue: a gauge that stays would be a fault that nobody has.
      if (degraded) runtime.metrics.gauge('queue_degraded', 0, { queue })
      pulse?.end()
      wake()
      return ended
    },
  }
}

function pauseAlone(delayMs: number, resume: () => void): () => void {
  const timer = setTimeout(resume, delayMs)
  return () => clearTimeout(timer)
}

/** Takes the findings of each sweep and returns those that many sweeps in a row have found. */
function createObservations(): (found: readonly string[]) => readonly string[] {
  const observations = new Map<string, { readonly times: number; readonly last: number }>()
  let sweeps = 0
  return (found) => {
    sweeps += 1
    for (const id of found) observations.set(id, { times: (observations.get(id)?.times ?? 0) + 1, last: sweeps })
    for (const [id, { last }] of observations) if (sweeps - last > DONE_SWEEPS) observations.delete(id)
    return found.filter((id) => (observations.get(id)?.times ?? 0) >= STUBBORN_SWEEPS)
  }
}
