import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { createDispatcher } from './dispatch.ts'
import type { DispatchDeliveriesDeps } from './dispatch-process.ts'

const nothing = () => undefined
const endpoint = {
  ...{ id: 'e', workspaceId: 'w', url: 'https://shop.example', events: ['*'], mode: 'live', description: null },
  ...{
    status: 'enabled',
    sealedSecrets: ['s'],
    formerSecrets: [],
    inFlightMax: null,
    createdAt: 0,
    updatedAt: 0,
    opId: null,
  },
}

function row(index: number): Delivery {
  return {
    ...{ id: `d${index}`, eventId: `ev${index}`, eventType: 'invoice.created', endpointId: 'e', workspaceId: 'w' },
    ...{ mode: 'live', generation: 0, status: 'pending', attempt: 0, dueAt: 0, leaseToken: null, claims: 0 },
    ...{ createdAt: 0, finishedAt: null, lastError: null, lastStatusCode: null },
  }
}

function settledLater<T>() {
  let resolve: (value: T) => void = nothing
  let reject: (error: Error) => void = nothing
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}

/** A store whose `findDue` can be held open, and a receiver that never answers in time. */
function slowEndpoint() {
  const world = {
    now: 1_000_000,
    due: [] as Delivery[],
    wakeUps: [] as string[],
    queries: 0,
    heldRead: null as (() => Promise<readonly Delivery[]>) | null,
  }
  const deps = {
    clock: { now: () => world.now },
    random: { uuid: () => randomUUID(), bytes: (length: number) => new Uint8Array(length) },
    logger: { info: nothing, warn: nothing, error: nothing, debug: nothing },
    metrics: { count: nothing, gauge: nothing, observe: nothing },
    deliveries: {
      findDue: async () => (world.heldRead === null ? world.due : world.heldRead()),
      claim: async (rows: readonly Delivery[], token: string) => {
        world.due = []
        return rows.map((each) => ({ ...each, leaseToken: token, claims: 1 }))
      },
      finish: async () => undefined,
      release: async () => undefined,
      lastFinished: async () => [],
      dueEndpoints: async () => {
        world.queries += 1
        return world.due.slice(0, 1).map(({ dueAt }) => ({ endpointId: 'e', dueAt }))
      },
    },
    endpoints: { findByIds: async () => new Map([['e', endpoint]]) },
    events: {
      findByIds: async (ids: string[]) =>
        new Map(ids.map((id) => [id, { id, invoiceId: 'i', type: 'invoice.created', body: new Uint8Array(1) }])),
    },
    secretBox: { open: () => `whsec_${Buffer.alloc(32).toString('base64')}` },
    notifier: { notify: (queue: string) => void world.wakeUps.push(queue) },
    http: {
      post: async () => ({
        ...{ outcome: 'failed', error: 'timeout', durationMs: 10_000, ip: null },
        phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
      }),
    },
    after: (_ms: number, then: () => void) => {
      const timer = setImmediate(then)
      return () => clearImmediate(timer)
    },
    allowLocalhost: false,
    maxInFlight: { normal: 8, slow: 8 },
    endpointInFlightMax: 64,
    processes: () => 1,
    stopwatch: () => world.now,
  }
  return { world, dispatcher: createDispatcher(deps as unknown as DispatchDeliveriesDeps) }
}

test.each(['finds nothing', 'fails'] as const)(
  'a row that waits for a place is sent after a claim that %s',
  async (how) => {
    const { world, dispatcher } = slowEndpoint()
    // Three time-outs in a row: the endpoint is slow and has one place.
    for (const index of [1, 2, 3]) {
      world.due = [row(index)]
      await dispatcher.drain(index === 1 ? 'normal' : 'slow', 'e')
      await dispatcher.idle()
    }
    const read = settledLater<void>()
    const answer = settledLater<readonly Delivery[]>()
    world.heldRead = () => {
      read.resolve()
      return answer.promise
    }
    const slowTurn = dispatcher.drain('slow', 'e').catch(nothing)
    await read.promise
    // The relay adds a row and wakes the normal lane. That turn ends at once, because the claim holds the only place.
    world.due = [{ ...row(4), dueAt: world.now }]
    world.wakeUps.length = 0
    await dispatcher.drain('normal', 'e')
    expect(world.wakeUps).toEqual([])
    if (how === 'fails') answer.reject(new Error('not primary'))
    else answer.resolve([])
    world.heldRead = null
    await slowTurn
    await dispatcher.idle()
    expect(world.wakeUps).toEqual(['webhooks-slow'])
  },
)

// Guarantee: a row whose wake-up was lost is found by the sweep of its lane, whichever lane queried the store.
test('one query serves the sweeps of both lanes, once and for a second', async () => {
  const { world, dispatcher } = slowEndpoint()
  world.due = [{ ...row(1), dueAt: world.now - 5_000 }]
  expect(await dispatcher.overdue('slow')).toEqual([])
  world.now += 900
  expect(await dispatcher.overdue('normal')).toEqual(['e'])
  expect(world.queries).toBe(1)
  // The same lane queries again, and so does the other one when the answer is older than a second.
  expect(await dispatcher.overdue('normal')).toEqual(['e'])
  world.now += 1_100
  expect(await dispatcher.overdue('slow')).toEqual([])
  expect(world.queries).toBe(3)
})

test('a row that fell due since the shared query is woken, and not counted as forgotten', async () => {
  const { world, dispatcher } = slowEndpoint()
  world.due = [{ ...row(1), dueAt: world.now + 100 }]
  expect(await dispatcher.overdue('slow')).toEqual([])
  world.now += 990
  expect(await dispatcher.overdue('normal')).toEqual([])
  await expect.poll(() => world.wakeUps).toEqual(['webhooks'])
  expect(world.queries).toBe(1)
})
