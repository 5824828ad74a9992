import type mongoose from 'mongoose'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { inAll } from '#test/support/in-all.ts'
import { localAdmissions } from '#test/support/local-admissions.ts'
import { useStores } from '#test/support/stores.ts'

/** A busy machine adds background work to some of them: a probe of Redis, the last use of a key, a key that is read again after 5 s. */
const REQUESTS = 8
const BODY = { amount: '25.00', currency: 'USD' }

const stores = useStores()
let db: Database
/** The stores of this file with a connection that reports its commands. */
const watched = Object.create(stores, { db: { get: () => db } }) as typeof stores
let api: TestApi
let requests: string[] = []

beforeAll(async () => {
  const url = new URL(stores.mongoUrl)
  url.searchParams.set('monitorCommands', 'true')
  db = await connectDatabase({ url: url.href, name: stores.database, logger: stores.runtime.logger })
  db.connection.getClient().on('commandStarted', ({ commandName, command }: mongoose.mongo.CommandStartedEvent) => {
    requests.push(`${commandName} ${command[commandName]}`)
  })
  const notifier = createRedisSignals(stores.redis).openNotifier(stores.runtime)
  api = await openApi(watched, { deps: () => ({ notifier }) })
})
afterAll(async () => {
  await api.close()
  await db.close()
})
afterEach(() => vi.restoreAllMocks())

/** Checks what a request asks of both stores, once its key is known; `call` gets the number of the request. */
async function expectCost(
  expected: readonly string[],
  status: number,
  call: (request: number) => ReturnType<TestApi['call']>,
): Promise<void> {
  const send = vi.spyOn(stores.redis.producer, 'sendCommand')
  const spent = () => [...requests, ...send.mock.calls.map(([{ name }]) => name)]
  const spans: string[][] = []
  let request = 0
  const measure = async (): Promise<void> => {
    const before = await localAdmissions(stores.runtime.metrics)
    requests = []
    send.mockClear()
    expect((await call(request++)).status).toBe(status)
    // The limiter decides without a Redis that took longer than 50 ms, and asks it again half a second later: this one does not count.
    expect(await localAdmissions(stores.runtime.metrics)).toBe(before)
    // Wake-up and mark are sent after the response.
    await vi.waitFor(() => expect(inAll([expected, spent()])).toEqual(expected), { timeout: 10_000, interval: 5 })
    spans.push(spent())
  }
  for (let count = 0; count <= REQUESTS; count += 1) await vi.waitFor(measure, { timeout: 60_000, interval: 600 })
  // The first one reads the key.
  spans.shift()
  expect(inAll(spans)).toEqual(expected)
}

// Guarantee: what a lone request asks of both stores, once its key is known. Counted, not timed.
it('reads an invoice with one command of the store and one of Redis', async () => {
  const { json } = await api.call('POST', '/invoices', { body: BODY })
  await expectCost(['evalsha', 'find invoices'], 200, () => api.call('GET', `/invoices/${json.data.id}`))
})

it('creates an invoice with one command of the store and two of Redis', async () => {
  await expectCost(['evalsha', 'evalsha', 'insert invoices'], 201, () => api.call('POST', '/invoices', { body: BODY }))
})

it('asks for an earlier refusal under an idempotency key, and takes its mark away', async () => {
  const once = (request: number) => ({ body: BODY, headers: { 'idempotency-key': `lone-${request}` } })
  const expected = ['evalsha', 'evalsha', 'evalsha', 'find idempotency_keys', 'insert invoices']
  await expectCost(expected, 201, (request) => api.call('POST', '/invoices', once(request)))
})

// ioredis copies every command, and every script of BullMQ, onto each new pipeline.
it('makes no pipeline for a request that is alone', async () => {
  const { producer } = stores.redis
  const made = [vi.spyOn(producer, 'pipeline'), vi.spyOn(producer, 'multi')]
  const send = vi.spyOn(producer, 'sendCommand')
  expect((await api.call('POST', '/invoices', { body: BODY })).status).toBe(201)
  const scripts = () => send.mock.calls.filter(([{ name }]) => name === 'evalsha')
  await vi.waitFor(() => expect(scripts().length).toBeGreaterThanOrEqual(2), { timeout: 10_000, interval: 5 })
  for (const one of made) expect(one).not.toHaveBeenCalled()
})
