import { afterEach, expect, it, vi } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { startRoundRobin } from '#scripts/start/round-robin.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { KEY_CANARY_FACT } from '#shared/db/installation/key-canary-repository.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { keyCanaryContext } from '#shared/ports/secrets.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { openContext } from './open-context.ts'
import { SERVICE_NAMES } from './services.ts'

const stores = useStores()
const endings: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

function environmentOf(mongoUrl: string, metricsPort: number, more: Readonly<Record<string, string>> = {}) {
  return {
    MONGO_URL: mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'test',
    PAYMESH_MONGO_DATABASE: stores.database,
    PAYMESH_REDIS_PREFIX: stores.prefix,
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 2).toString('base64'),
    PAYMESH_METRICS_PORT: String(metricsPort),
    ...more,
  }
}
const configOf = (...given: Parameters<typeof environmentOf>) => parseConfig(environmentOf(...given))

const silent = { write: () => undefined }
const request = async (port: number, path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return { status: response.status, body: (await response.json()) as { [key: string]: unknown } }
}

// Guarantee: a store that is away at the start is waited for and named; nobody has to restart anything.
deepTest('waits for MongoDB, says so from the first moment, and goes on when it comes', async () => {
  const [mongoPort, port] = [await freePort(0), await freePort(0)]
  const opening = openContext('api', configOf(`mongodb://127.0.0.1:${mongoPort}/?directConnection=true`, port), silent)
  endings.push(async () => (await opening).close())
  await vi.waitFor(async () => expect((await request(port, '/readyz')).status).toBe(503))
  await vi.waitFor(
    async () => {
      const { status, body } = await request(port, '/startupz')
      expect([status, body]).toEqual([
        503,
        { started: false, reason: expect.stringMatching(/^waiting for MongoDB: .*ECONNREFUSED/) },
      ])
    },
    { timeout: 20_000, interval: 250 },
  )
  expect((await request(port, '/livez')).status).toBe(200)
  const door = await startRoundRobin(mongoPort, [Number(new URL(stores.mongoUrl).port)])
  // Closed after the process, whose last writes go through it.
  endings.unshift(door.stop)
  const { ready, drain } = await opening
  expect((await request(port, '/startupz')).body).toEqual({ started: false, reason: 'starting' })
  ready()
  // A store that does not answer within two seconds is not ready yet.
  await expect.poll(() => request(port, '/readyz')).toMatchObject({ status: 200, body: { ready: true } })
  drain()
  expect(await request(port, '/readyz')).toMatchObject({ status: 503, body: { reasons: { process: 'stopping' } } })
  expect((await request(port, '/startupz')).status).toBe(200)
})

// Guarantee: what every process needs around its services reads no setting that some process is not given.
it.each(SERVICE_NAMES)('opens for %s, which reads its own settings alone', async (name) => {
  const port = await freePort(0)
  const opened = await openContext(name, parseConfig(environmentOf(stores.mongoUrl, port), name), silent)
  endings.push(opened.close)
  opened.ready()
  await expect.poll(() => request(port, '/readyz')).toMatchObject({ status: 200, body: { ready: true } })
})

it('collects the figures of the installation, and shows the state of its stores', async () => {
  const port = await freePort(0)
  const opened = await openContext('outbox', configOf(stores.mongoUrl, port), silent)
  endings.push(opened.close)
  await vi.waitFor(
    async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      expect(text).toContain('paymesh_queue_oldest_due_age_seconds{queue="webhooks"} 0')
      expect(text).toContain('paymesh_store_up{store="mongo"} 1')
      expect(text).toMatch(/^paymesh_clock_drift_seconds -?[\d.e-]+$/m)
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
    },
    { timeout: 20_000, interval: 100 },
  )
})

// Guarantee: another installation that takes the Redis prefix after Redis was emptied does not take every replica out of the balancer; each names it and says what to do.
it('stays ready where another installation took the prefix of an emptied Redis, and names it', async () => {
  const port = await freePort(0)
  const opened = await openContext('api', configOf(stores.mongoUrl, port), silent)
  endings.push(opened.close)
  opened.ready()
  await expect.poll(() => request(port, '/readyz')).toMatchObject({ status: 200, body: { ready: true } })
  const key = `${stores.redis.prefix}:installation`
  const ours = await stores.redis.producer.get(key)
  await stores.redis.producer.set(key, 'another')
  const answer = expect.poll(() => request(port, '/readyz'), { timeout: 15_000, interval: 250 })
  const prefix = expect.stringMatching(/belong to installation another.*PAYMESH_REDIS_PREFIX/)
  await answer.toMatchObject({ status: 200, body: { ready: true, degraded: { prefix } } })
  await stores.redis.producer.set(key, ours ?? '')
})

// Guarantee: a machine whose clock is wrong gets no new work while there is another one, and what it did before sorts with the work of the others.
it('is not ready while the clock of the machine alone is off, and mints ids from the clock of the store', async () => {
  const port = await freePort(0)
  const aheadMs = 7_200_000
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs })
  endings.push(() => vi.useRealTimers())
  const opened = await openContext('outbox', configOf(stores.mongoUrl, port), silent)
  endings.push(opened.close)
  opened.ready()
  // The clock of the store is as far off for every replica: a balancer would take all of them out at once.
  expect(await request(port, '/readyz')).toMatchObject({
    status: 200,
    body: { reasons: {}, degraded: { clock: expect.stringMatching(/clock is 7\d{3}\.\d s ahead of the store's/) } },
  })
  await createProcessHeartbeats(stores.db).beat({
    ...{ id: 'another', name: 'outbox', host: 'another', pid: 1, version: '', node: '', silent: [], masterKeys: [] },
    ...{ startedAt: opened.context.clock.now(), seenAt: opened.context.clock.now(), driftMs: -1_999 },
  })
  expect(await request(port, '/readyz')).toMatchObject({
    status: 503,
    body: { reasons: { clock: expect.stringMatching(/clock is 7\d{3}\.\d s ahead of the store's; synchronise it/) } },
  })
  const drift = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    return Number(/^paymesh_clock_drift_seconds (\S+)$/m.exec(metrics)?.[1] ?? 0)
  }
  await expect.poll(drift).toBeGreaterThan(7_000)
  const mintedAt = Number.parseInt(opened.context.random.uuid().replaceAll('-', '').slice(0, 12), 16)
  expect(Math.abs(mintedAt - opened.context.clock.now())).toBeLessThan(60_000)
})

// Guarantee: a process with a wrong key does no work, and one whose key was rotated away says so to whoever routes work to it.
it('does not start with a wrong key, and is not ready once its key is no longer the one of the installation', async () => {
  const [port, second] = [await freePort(0), await freePort(0)]
  const opened = await openContext('api', configOf(stores.mongoUrl, port), silent)
  endings.push(opened.close)
  opened.ready()
  const other = Buffer.alloc(32, 9)
  const wrong = configOf(stores.mongoUrl, second, { PAYMESH_MASTER_KEY: other.toString('base64') })
  await expect(openContext('api', wrong, silent)).rejects.toThrow('PAYMESH_MASTER_KEY does not match this installation')
  const peppered = configOf(stores.mongoUrl, second, { PAYMESH_KEY_PEPPER: other.toString('base64') })
  await expect(openContext('api', peppered, silent)).rejects.toThrow('PAYMESH_KEY_PEPPER does not match')
  await stores.db
    .collection(INSTALLATION)
    .updateOne({ _id: KEY_CANARY_FACT }, { $set: { sealed: createSecretBox(other).seal('moved', keyCanaryContext()) } })
  await vi.waitFor(
    async () =>
      expect(await request(port, '/readyz')).toMatchObject({
        status: 503,
        body: { reasons: { keys: expect.stringContaining('PAYMESH_MASTER_KEY does not match this installation') } },
      }),
    { timeout: 90_000, interval: 500 },
  )
  await stores.db.collection(INSTALLATION).deleteOne({ _id: KEY_CANARY_FACT })
})
