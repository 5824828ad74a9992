import type { Ambient, Kicker } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'
import type { Watchdog } from './watchdog.ts'

/** What a sweeper needs of its worker. */
export interface SweeperDeps {
  readonly redis: RedisConnections
  readonly ambient: Ambient
  readonly kicker: Kicker
  readonly options: QueueWorkerOptions
  handle(id: string): Promise<void>
  isRunning(id: string): boolean
  readonly watchdog: Pick<Watchdog, 'isIdle' | 'look'>
}

/** Sweeps of many processes must not fall into step. */
const JITTER = 0.2
const DEGRADED_AFTER_MS = 3_000
/** A sweep that hangs for longer than this while the store answers has died. */
const SILENCE_MAX_MS = 60_000
/** Found by this many sweeps: kicking it did not help. */
const STUBBORN_SWEEPS = 10
/** Not found by more sweeps than this, it was done. Fewer say nothing: what a sweep found may rest before it is found again. */
const DONE_SWEEPS = 3

/**
 * Asks the store again and again for work that nobody was woken up for. Findings are kicked and counted in
 * `sweeper_rescued_total`, which stays near zero while kicks arrive; with Redis away they are handled here, at most
 * `concurrency` at a time. Ids that run in this process already are left to that run. What sweep after sweep finds although it
 * was kicked, while the worker here has nothing to do, is handled here as well: Redis keeps the kicks for itself, as a paused queue does.
 */
export function createSweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  const { redis, ambient, options } = deps
  const { queue } = options
  const logger = ambient.logger.child({ queue })
  let stopping = false
  let wake: () => void = () => undefined
  let degraded = false
  const stubbornOf = createSightings()
  const pulse = ambient.pulses?.start(`sweep:${queue}`, SILENCE_MAX_MS + 3 * options.sweepEveryMs)

  const pause = (): Promise<void> => {
    const [byte = 0] = ambient.random.bytes(1)
    const delayMs = options.sweepEveryMs * (1 - JITTER + (2 * JITTER * byte) / 255)
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const setDegraded = (next: boolean): void => {
    if (next === degraded) return
    degraded = next
    ambient.metrics.gauge('queue_degraded', next ? 1 : 0, { queue })
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
      ambient.metrics.count('sweeper_rescued_total', { queue }, found.length)
      for (const id of found) deps.kicker.kick(queue, id)
      if (stubborn.length > 0 && deps.watchdog.isIdle()) {
        ambient.metrics.count('sweeper_handled_total', { queue }, stubborn.length)
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
        ambient.metrics.count('sweeps_failed_total', { queue })
        logger.error({ err: error }, 'sweep failed')
      }
      if (!stopping) await pause()
    }
  }
  const ended = loop()
  return {
    stop: () => {
      stopping = true
      pulse?.end()
      wake()
      return ended
    },
  }
}

/** Takes what each sweep found and names those of them that sweep after sweep has found. */
function createSightings(): (found: readonly string[]) => readonly string[] {
  const sightings = new Map<string, { readonly times: number; readonly last: number }>()
  let sweeps = 0
  return (found) => {
    sweeps += 1
    for (const id of found) sightings.set(id, { times: (sightings.get(id)?.times ?? 0) + 1, last: sweeps })
    for (const [id, { last }] of sightings) if (sweeps - last > DONE_SWEEPS) sightings.delete(id)
    return found.filter((id) => (sightings.get(id)?.times ?? 0) >= STUBBORN_SWEEPS)
  }
}
