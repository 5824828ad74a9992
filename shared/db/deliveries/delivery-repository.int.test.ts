import { beforeEach, describe, expect, it } from 'vitest'
import type { DeliveryOutcome } from '#shared/ports/deliveries.ts'
import { sampleDelivery } from '#test/support/db-samples.ts'
import { storeTime } from '#test/support/store-time.ts'
import { useStores } from '#test/support/stores.ts'
import { WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { claimRows, createDeliveryRepository } from './delivery-repository.ts'

const stores = useStores()
beforeEach(() => stores.db.collection(WEBHOOK_DELIVERIES).deleteMany({}))
const repository = () => createDeliveryRepository(stores.db)
const uuid = () => stores.runtime.random.uuid()
const LEASE_MS = 20_000

async function rows(endpointId: string, count: number, overrides: Parameters<typeof sampleDelivery>[1] = {}) {
  const made = Array.from({ length: count }, (_, index) =>
    sampleDelivery(`whd_${uuid()}`, { endpointId, dueAt: 1_000 + index, ...overrides }),
  )
  await repository().insertMany(made)
  return made
}

const outcome = (deliveryId: string, leaseToken: string, result: DeliveryOutcome['result']): DeliveryOutcome => ({
  deliveryId,
  leaseToken,
  result,
  retryAfterMs: result === 'retry' ? 60_000 : null,
  attempt: {
    number: 1,
    at: 5_000,
    durationMs: 12.5,
    statusCode: result === 'succeeded' ? 200 : 500,
    error: result === 'succeeded' ? null : 'status_500',
    ip: '127.0.0.1',
    phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    responseBody: 'ok',
  },
})

describe('insertMany', () => {
  it('leaves existing rows alone and stores what the schema describes', async () => {
    const endpointId = uuid()
    const [first, second] = await rows(endpointId, 2)
    if (first === undefined || second === undefined) throw new Error('two rows were made')
    const third = sampleDelivery(`whd_${uuid()}`, { endpointId })
    await repository().insertMany([{ ...first, attempt: 9 }, third])
    expect(await repository().findById(first.id)).toEqual(first)
    expect(await repository().findById(third.id)).toEqual(third)
    const stored = await stores.db.collection(WEBHOOK_DELIVERIES).findOne({ _id: first.id })
    expect(WEBHOOK_DELIVERIES.schema.strict().safeParse(stored).error).toBeUndefined()
  })

  it('names the rows that it inserted, and none that it met', async () => {
    const endpointId = uuid()
    const [met] = await rows(endpointId, 1, { leaseToken: 'theirs', claims: 1 })
    if (met === undefined) throw new Error('a row was made')
    const mine = sampleDelivery(`whd_${uuid()}`, { endpointId, leaseToken: 'ours', claims: 1 })
    expect(await repository().insertMany([{ ...met, leaseToken: 'ours' }, mine])).toEqual(new Set([mine.id]))
    expect((await repository().findById(met.id))?.leaseToken).toBe('theirs')
  })

  // Guarantee: after a lost answer, rows with this caller's token are its own, and a row of another process never is.
  it('finds its own rows by their token when the first answer was lost', async () => {
    const endpointId = uuid()
    const [met] = await rows(endpointId, 1, { leaseToken: 'theirs', claims: 1 })
    if (met === undefined) throw new Error('a row was made')
    const mine = [1, 2].map(() => sampleDelivery(`whd_${uuid()}`, { endpointId, leaseToken: 'ours', claims: 1 }))
    let tries = 0
    const db = {
      ...stores.db,
      collection: (model: Parameters<typeof stores.db.collection>[0]) => {
        const real = stores.db.collection(model)
        return new Proxy(real, {
          get: (target, name) => {
            if (name !== 'insertMany') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name)
            return async (...args: Parameters<typeof real.insertMany>) => {
              tries += 1
              const answer = target.insertMany(...args)
              if (tries > 1) return answer
              await answer.catch(() => undefined)
              throw new Error('the answer was lost')
            }
          },
        })
      },
    } as typeof stores.db
    const ours = await createDeliveryRepository(db).insertMany([{ ...met, leaseToken: 'ours' }, ...mine])
    expect(tries).toBe(2)
    expect(ours).toEqual(new Set(mine.map(({ id }) => id)))
  })
})

/** Reads due rows of an endpoint and claims them. */
async function claim(endpointId: string, token: string, limit: number, leaseMs: number) {
  return repository().claim(await repository().findDue([{ endpointId, limit }], null), token, leaseMs)
}

describe('claim', () => {
  // Guarantee: two dispatchers never hold the same delivery.
  it('gives each row to one of ten claimers', async () => {
    const endpointId = uuid()
    await rows(endpointId, 40)
    const tokens = Array.from({ length: 10 }, () => uuid())
    const claimed = await Promise.all(tokens.map((token) => claim(endpointId, token, 10, LEASE_MS)))
    const ids = claimed.flat().map((delivery) => delivery.id)
    expect(new Set(ids).size).toBe(ids.length)
    claimed.forEach((mine, index) => {
      for (const delivery of mine) expect(delivery).toMatchObject({ leaseToken: tokens[index], claims: 1, attempt: 0 })
    })
    const rest = await claim(endpointId, uuid(), 100, LEASE_MS)
    expect(ids.length + rest.length).toBe(40)
  })

  // Guarantee: nothing is sent before it is due.
  it('takes the oldest due rows and never one of the future', async () => {
    const endpointId = uuid()
    const [first, second] = await rows(endpointId, 3)
    await rows(endpointId, 1, { dueAt: stores.runtime.clock.now() + 60_000 })
    const token = uuid()
    const claimed = await claim(endpointId, token, 2, LEASE_MS)
    expect(claimed.map((delivery) => delivery.id).sort()).toEqual([first?.id, second?.id].sort())
    expect(await claim(endpointId, uuid(), 10, LEASE_MS)).toHaveLength(1)
    expect(await claim(endpointId, uuid(), 10, LEASE_MS)).toEqual([])
  })

  // Guarantee: the events of one change reach an idle endpoint in their order, although they were made in the same moment.
  it('gives rows of one moment in the order of their due times', async () => {
    const endpointId = uuid()
    // Ids of deliveries are hashes: their order says nothing.
    const made = ['c', 'a', 'b'].map((letter, index) =>
      sampleDelivery(`whd_${letter}${endpointId}`, { endpointId, dueAt: 1_000 + index, createdAt: 5_000 }),
    )
    await repository().insertMany(made)
    const claimed = await claim(endpointId, uuid(), 12, LEASE_MS)
    expect(claimed.map((delivery) => delivery.id)).toEqual(made.map((delivery) => delivery.id))
  })

  it('makes a row due again when its lease runs out, or at once when it is given back', async () => {
    const endpointId = uuid()
    const [only] = await rows(endpointId, 1)
    const token = uuid()
    expect(await claim(endpointId, token, 1, LEASE_MS)).toHaveLength(1)
    expect(await repository().nextDue(endpointId)).toBeGreaterThan(stores.runtime.clock.now() + LEASE_MS / 2)
    await repository().release(only === undefined ? [] : [only.id], token)
    const again = await claim(endpointId, uuid(), 1, -1)
    expect(again).toMatchObject([{ id: only?.id, claims: 2, attempt: 0 }])
    expect(await claim(endpointId, uuid(), 1, LEASE_MS)).toMatchObject([{ id: only?.id, claims: 3 }])
  })
})

describe('a claim for several endpoints', () => {
  it('serves each up to its own limit, whoever has the older backlog', async () => {
    const [backlog, late, none] = [uuid(), uuid(), uuid()]
    await rows(backlog, 30)
    await rows(late, 5, { dueAt: 900_000 })
    const wants = [backlog, late, none].map((endpointId) => ({ endpointId, limit: 3 }))
    const due = await repository().findDue(wants, null)
    const claimed = await repository().claim(due, uuid(), LEASE_MS)
    expect(claimed.map((row) => row.endpointId).sort()).toEqual(
      [...Array(3).fill(backlog), ...Array(3).fill(late)].sort(),
    )
    expect(claimed.filter((row) => row.endpointId === backlog).map((row) => row.dueAt)).toEqual([1_000, 1_001, 1_002])
  })

  // Guarantee: what is sent is the row as it is; one that somebody else claimed and gave back since is not taken from an old reading.
  it('takes no row that was claimed or had an outcome since it was read', async () => {
    const endpointId = uuid()
    await rows(endpointId, 3)
    const read = await repository().findDue([{ endpointId, limit: 3 }], null)
    const [lapsed, retried, untouched] = read
    if (lapsed === undefined || retried === undefined || untouched === undefined) throw new Error('three rows are due')
    const token = uuid()
    await repository().claim([lapsed], uuid(), -1)
    await repository().claim([retried], token, LEASE_MS)
    await repository().finish([{ ...outcome(retried.id, token, 'retry'), retryAfterMs: 0 }])
    const claimed = await repository().claim(read, uuid(), LEASE_MS)
    expect(claimed.map((row) => row.id)).toEqual([untouched.id])
  })

  // Guarantee: a claim whose answer is lost loses nothing; its rows are ours and are sent now, not when the lease ends.
  it('finds its rows when the answer of the store is lost', async () => {
    const endpointId = uuid()
    await rows(endpointId, 2)
    const collection = stores.db.collection(WEBHOOK_DELIVERIES)
    const lossy = new Proxy(collection, {
      get: (target, name, receiver) =>
        name === 'bulkWrite'
          ? async (...args: Parameters<typeof target.bulkWrite>) => {
              await target.bulkWrite(...args)
              throw new Error('the connection is lost')
            }
          : Reflect.get(target, name, receiver),
    })
    const due = await repository().findDue([{ endpointId, limit: 2 }], null)
    const token = uuid()
    const claimed = await claimRows(lossy, due, token, LEASE_MS)
    expect(claimed.map((row) => [row.id, row.leaseToken, row.claims])).toEqual(due.map((row) => [row.id, token, 1]))
    const refused = new Proxy(collection, {
      get: (target, name, receiver) =>
        name === 'bulkWrite' ? () => Promise.reject(new Error('refused')) : Reflect.get(target, name, receiver),
    })
    await expect(claimRows(refused, due, uuid(), LEASE_MS)).rejects.toThrow('refused')
  })
})

describe('finish', () => {
  // Guarantee: a worker whose clock is slow retries no sooner than the schedule says.
  it('counts the pause before a retry from the time of the store, whatever the worker takes for the time', async () => {
    const endpointId = uuid()
    await rows(endpointId, 2)
    const token = uuid()
    const [one, two] = await claim(endpointId, token, 2, LEASE_MS)
    if (one === undefined || two === undefined) throw new Error('two rows were claimed')
    const recordedAfter = await storeTime(stores)
    const slowClock = recordedAfter - 5_000
    const retries = [one, two].map(({ id }) => {
      const retry = outcome(id, token, 'retry')
      return { ...retry, attempt: { ...retry.attempt, at: slowClock, durationMs: 0 } }
    })
    await repository().finish(retries)
    const recordedBefore = await storeTime(stores)
    const stored = await Promise.all([one, two].map(({ id }) => repository().findById(id)))
    for (const row of stored) {
      expect(row).toMatchObject({ status: 'pending', attempt: 1 })
      expect(row?.dueAt).toBeGreaterThanOrEqual(recordedAfter + 60_000)
      expect(row?.dueAt).toBeLessThanOrEqual(recordedBefore + 60_000)
    }
  })

  it('records outcomes and attempts', async () => {
    const endpointId = uuid()
    await rows(endpointId, 3)
    const token = uuid()
    const [one, two, three] = await claim(endpointId, token, 3, LEASE_MS)
    if (one === undefined || two === undefined || three === undefined) throw new Error('three rows were claimed')
    const retry = outcome(two.id, token, 'retry')
    const recordedAfter = await storeTime(stores)
    await repository().finish([outcome(one.id, token, 'succeeded'), retry, outcome(three.id, token, 'failed')])
    expect(await repository().findById(one.id)).toMatchObject({
      status: 'succeeded',
      attempt: 1,
      leaseToken: null,
      finishedAt: 5_013,
      lastStatusCode: 200,
    })
    expect(await repository().findById(two.id)).toMatchObject({
      status: 'pending',
      attempt: 1,
      leaseToken: null,
      lastError: 'status_500',
      finishedAt: null,
    })
    expect((await repository().findById(two.id))?.dueAt).toBeGreaterThanOrEqual(recordedAfter + 60_000)
    expect(await repository().findById(three.id)).toMatchObject({ status: 'failed', attempt: 1 })
    for (const { id } of [one, two, three]) expect(await repository().listAttempts(id)).toHaveLength(1)
    expect((await repository().lastFinished(endpointId, 5)).map((row) => row.status).sort()).toEqual([
      'failed',
      'succeeded',
    ])
  })

  // Guarantee: a dispatcher whose lease was taken over cannot overwrite the other's outcome.
  it('ignores the outcome of a lost lease', async () => {
    const endpointId = uuid()
    const [only] = await rows(endpointId, 1)
    const lost = uuid()
    await claim(endpointId, lost, 1, -1)
    const holder = uuid()
    expect(await claim(endpointId, holder, 1, LEASE_MS)).toHaveLength(1)
    await repository().finish([outcome(only?.id ?? '', lost, 'failed')])
    expect(await repository().findById(only?.id ?? '')).toMatchObject({
      status: 'pending',
      leaseToken: holder,
      attempt: 0,
    })
  })
})

describe('questions', () => {
  it('names endpoints with due rows, the longest waiting first', async () => {
    const [early, late, future] = [uuid(), uuid(), uuid()]
    await rows(early, 2, { dueAt: 10 })
    await rows(late, 2, { dueAt: 20 })
    await rows(future, 1, { dueAt: 90 })
    expect(await repository().dueEndpoints(50, 10)).toEqual([
      { endpointId: early, dueAt: 10 },
      { endpointId: late, dueAt: 20 },
    ])
    expect(await repository().dueEndpoints(50, 1)).toHaveLength(1)
    expect(await repository().purge(early, null)).toBe(2)
    expect(await repository().purge(late, 'live')).toBe(0)
    expect(await repository().purge(late, 'test')).toBe(2)
    expect(await repository().nextDue(early)).toBeNull()
  })

  it('finds the deliveries of an event and its highest generation', async () => {
    const endpointId = uuid()
    const eventId = `evt_${uuid()}`
    expect(await repository().highestGeneration(eventId, endpointId)).toBe(-1)
    await rows(endpointId, 1, { eventId, generation: 0 })
    await rows(endpointId, 1, { eventId, generation: 1 })
    expect(await repository().highestGeneration(eventId, endpointId)).toBe(1)
    expect((await repository().listByEvent(eventId)).map((delivery) => delivery.generation)).toEqual([0, 1])
  })
})
