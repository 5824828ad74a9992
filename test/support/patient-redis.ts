import { Cluster, type Redis } from 'ioredis'
import { vi } from 'vitest'
import type { RedisConnections } from '#shared/queues/connection.ts'

/**
 * Connections over which commands take as long as they take, and a slow Redis counts as a healthy one: the product gives up a command
 * after half a second, and drops wake-ups from then on. For tests of what Redis answers, not of when. They close with `redis`.
 */
export function patientRedis(redis: RedisConnections): RedisConnections {
  return { ...redis, producer: redis.openWorkerConnection(), isHealthy: () => true, unhealthyForMs: () => 0 }
}

/** The connection of a test to its one server. */
export function toOneServer(client: RedisConnections['producer']): Redis {
  if (client instanceof Cluster) throw new TypeError('these tests run on one server')
  return client
}

/** Limits and buckets go on without an answer of Redis after 50 and 100 ms. */
const SILENCES_MS = [50, 100]

/**
 * A test during which limits and buckets wait for each answer of Redis, however long it takes: without one they count in the process, as
 * they must, and the test would say nothing of what Redis counts. Such a test must not set timers of 50 or 100 ms.
 */
export function awaitingRedis(test: () => Promise<void>): () => Promise<void> {
  return async () => {
    const { setTimeout } = globalThis
    const patient = (callback: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
      setTimeout(callback, SILENCES_MS.includes(ms) ? 60_000 : ms, ...given)
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(patient as typeof setTimeout)
    try {
      await test()
    } finally {
      spy.mockRestore()
    }
  }
}
