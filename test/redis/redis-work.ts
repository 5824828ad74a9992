import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import { checkRedis } from '#scripts/cli/doctor/diagnoses.ts'
import { type Metrics, QUEUES } from '#shared/ports/runtime.ts'
import { connectRedis, type RedisConnections } from '#shared/queues/connection.ts'
import { createQueueNotifier } from '#shared/queues/queue-notifier.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { createQueueWorker } from '#shared/queues/worker.ts'
import type { useStores } from '#test/support/stores.ts'

const SOON = { timeout: 15_000, interval: 20 }

/** What processes do over a Redis of a test, and what they and `doctor` say of it. */
export function useRedisWork(stores: ReturnType<typeof useStores>, endings: (() => unknown)[]) {
  const counted = new Map<string, number>()
  const metrics: Metrics = {
    count: (name, _labels, by = 1) => void counted.set(name, (counted.get(name) ?? 0) + by),
    gauge: () => undefined,
    observe: () => undefined,
  }

  function connect(url: string): RedisConnections {
    const redis = connectRedis({ url, prefix: 'paymesh', logger: stores.runtime.logger })
    endings.push(() => redis.close())
    return redis
  }

  const doctor = async (redis: RedisConnections): Promise<string> =>
    await checkRedis({ redis, db: stores.db, clock: stores.runtime.clock } as unknown as Parameters<
      typeof checkRedis
    >[0]).catch((error: Error) => `fault: ${error.message}`)

  /** A worker and a notifier of one queue; no sweep helps them. */
  function startWakeUps(redis: RedisConnections) {
    const runtime = { ...stores.runtime, metrics }
    const handled = new Set<string>()
    const worker = createQueueWorker(redis, runtime, {
      ...{ queue: QUEUES.webhooks, concurrency: 4, sweepEveryMs: 3_600_000, sweep: () => Promise.resolve([]) },
      handle: (id) => Promise.resolve(handled.add(id)),
    })
    const notifier = createQueueNotifier(redis, runtime)
    endings.push(
      () => worker.stop(2_000),
      () => notifier.close(),
    )
    /** Sends ten together until each arrived: a busy machine may drop one, and a later one takes its place. */
    const expectTen = async (name: string): Promise<void> => {
      const ids = Array.from({ length: 10 }, (_, at) => `${name}-${at}`)
      await vi.waitFor(() => {
        for (const id of ids) if (!handled.has(id)) notifier.notify(QUEUES.webhooks, id)
        expect(ids.filter((id) => !handled.has(id))).toEqual([])
      }, SOON)
    }
    return { expectTen }
  }

  /** Wake-ups, limits, epochs and counts over these connections, as processes use them; no sweep helps. */
  async function expectWholeWork(redis: RedisConnections): Promise<void> {
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    counted.clear()
    await startWakeUps(redis).expectTen('e')
    const signals = createRedisSignals(redis)
    const admitted = await signals
      .createTokenBuckets(metrics)
      .take({ name: 'x', capacity: 1, intervalMs: 1_000 }, randomUUID())
    expect(admitted.allowed).toBe(true)
    await vi.waitFor(async () => expect(await signals.createQueueCounts().read()).not.toBeNull(), SOON)
  }

  const fault = async (redis: RedisConnections, text: RegExp): Promise<void> => {
    await vi.waitFor(() => expect(redis.fault() ?? 'none').toMatch(text), SOON)
    expect(redis.isHealthy()).toBe(false)
    expect(await doctor(redis)).toMatch(new RegExp(`^fault: Redis .*${text.source}`))
  }
  return { counted, metrics, connect, doctor, startWakeUps, expectWholeWork, fault }
}
