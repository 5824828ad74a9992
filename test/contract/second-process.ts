import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findRedisServer } from '#dev/embedded/find-redis-server.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import { startRedisStore } from '#dev/embedded/redis-store.ts'
import { superviseProcess } from '#scripts/start/supervised-process.ts'
import { connectRedis, type RedisConnections } from '#shared/queues/connection.ts'
import type { MetricsRegistry } from '#shared/runtime/observability/metrics.ts'
import { callApi, type TestApi } from '#test/support/api.ts'
import { localAdmissionsIn } from '#test/support/local-admissions.ts'
import { patientRedis } from '#test/support/patient-redis.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import type { TestStores } from '#test/support/stores.ts'
import { openContractApi } from './contract-stage.ts'

const BACK_MS = 60_000

/** Two processes of the API on the stores of a test file, with their own Redis that may be stopped and emptied. */
export interface TwoProcesses {
  /** The API in the test's own process, with its real rate limiter. */
  readonly here: TestApi
  /** The API in its own process, as the Procfile starts it. */
  readonly there: Pick<TestApi, 'call'>
  /** Waits for every answer, so that no test fails because Redis is slow. */
  readonly redis: RedisConnections
  /**
   * Requests so far that a process had to check without Redis. On a starved machine that happens to a Redis in perfect
   * health; whoever counts what both let through together must add these.
   */
  checkedAlone(): Promise<number>
  /** Redis keeps its connections and answers nothing. */
  stopRedis(): void
  /** Resolves when both processes ask Redis again; does nothing while it runs. */
  continueRedis(): Promise<void>
  close(): Promise<void>
}

/** Starts the second process and the Redis; call it in a hook of a file that uses `useStores`. */
export async function openTwoProcesses(stores: TestStores): Promise<TwoProcesses> {
  const dir = makeStoreFolder('paymesh-two')
  const binary = await findRedisServer(() => undefined)
  const server = await startRedisStore({ binary, dir: join(dir, 'redis'), preferredPort: 0 })
  const redis = connectRedis({ url: server.url, prefix: stores.prefix, logger: stores.runtime.logger })
  await redis.waitUntilHealthy(60_000)
  const here = await openContractApi(stores, { redis, deps: (deps) => ({ limiter: deps.limiter }) })
  const log = openSync(join(dir, 'api.log'), 'a')
  const port = await freePort(0)
  const second = await superviseProcess({
    line: { name: 'api', command: process.execPath, args: ['scripts/service.mjs', 'api'] },
    environment: {
      MONGO_URL: stores.mongoUrl,
      REDIS_URL: server.url,
      PAYMESH_MONGO_DATABASE: stores.database,
      PAYMESH_REDIS_PREFIX: stores.prefix,
      PAYMESH_ENV: 'test',
      PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
      PAYMESH_PUBLIC_CHECKOUT_URL: 'https://pay.example.com',
      PAYMESH_API_PORT: String(port),
    },
    metricsPort: await freePort(0),
    log,
    keepAlive: false,
    report: () => undefined,
    changed: () => undefined,
  })
  await second.ready()
  let isStopped = false
  const baseUrl = `http://127.0.0.1:${port}/api/v1`
  const there: TwoProcesses['there'] = {
    call: (method, path, request = {}) => callApi(baseUrl, here.testKey, method, path, request),
  }
  return {
    here,
    there,
    redis: patientRedis(redis),
    checkedAlone: async () => {
      const own = await (stores.runtime.metrics as MetricsRegistry).render()
      const other = await (await fetch(second.metricsUrl)).text()
      return localAdmissionsIn(own) + localAdmissionsIn(other)
    },
    stopRedis: () => {
      isStopped = true
      process.kill(server.pid, 'SIGSTOP')
    },
    continueRedis: async () => {
      if (!isStopped) return
      process.kill(server.pid, 'SIGCONT')
      isStopped = false
      for (const to of [here, there]) await untilCounted(to, redis)
    },
    close: async () => {
      process.kill(server.pid, 'SIGCONT')
      await Promise.all([here.close(), second.stop()])
      await redis.close()
      await server.stop()
      closeSync(log)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Sends requests to a process until Redis has counted one. */
async function untilCounted(to: Pick<TestApi, 'call'>, { producer, prefix }: RedisConnections): Promise<void> {
  const bucket = `${prefix}:rate:ip:127.0.0.1`
  for (const until = Date.now() + BACK_MS; Date.now() < until; await delay(20)) {
    if (producer.status !== 'ready') continue
    await producer.del(bucket).catch(() => undefined)
    await to.call('GET', '/invoices', { key: null })
    if ((await producer.exists(bucket).catch(() => 0)) === 1) return
  }
  throw new Error('a process did not find Redis again')
}
