import { beforeEach, describe, expect, it } from 'vitest'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Delivery, DeliveryOutcome } from '#shared/ports/deliveries.ts'
import { sampleDelivery } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { createDeliveryRepository } from './delivery-repository.ts'

const stores = useStores()
const LEASE_MS = 20_000
const uuid = () => stores.runtime.random.uuid()
const repository = () => createDeliveryRepository(stores.db)
const rows = () => stores.db.collection(WEBHOOK_DELIVERIES)
const elsewhere = () => stores.db.collection(WEBHOOK_ATTEMPTS)
beforeEach(async () => {
  await rows().deleteMany({})
  await elsewhere().deleteMany({})
})

async function made(count: number, overrides: Partial<Delivery> = {}): Promise<readonly Delivery[]> {
  const endpointId = uuid()
  const found = Array.from({ length: count }, () => sampleDelivery(`whd_${uuid()}`, { endpointId, ...overrides }))
  await repository().insertMany(found)
  return found
}

async function claimed(deliveries: readonly Delivery[], leaseMs = LEASE_MS): Promise<string> {
  const token = uuid()
  const endpointId = deliveries[0]?.endpointId ?? ''
  const due = await repository().findDue([{ endpointId, limit: deliveries.length }], null)
  expect(await repository().claim(due, token, leaseMs)).toHaveLength(deliveries.length)
  return token
}

function outcome(deliveryId: string, leaseToken: string, changes: Partial<DeliveryOutcome['attempt']> = {}) {
  const attempt = { number: 1, at: 5_000, durationMs: 12, statusCode: 500, error: 'status_500', ip: '192.0.2.1' }
  const phases = { dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 9 }
  return {
    ...{ deliveryId, leaseToken, result: 'retry', retryAfterMs: 0 },
    attempt: { ...attempt, phases, responseBody: 'no', ...changes },
  } as const satisfies DeliveryOutcome
}

const stored = async (id: string) => (await rows().findOne({ _id: id })) ?? expect.fail(`no delivery ${id}`)
const counted = async () => await elsewhere().countDocuments({})

describe('an outcome and its attempt', () => {
  // Guarantee: one write, so that no crash leaves one without the other.
  it('are in the delivery, each row of a group with its own', async () => {
    const deliveries = await made(32)
    const token = await claimed(deliveries)
    const outcomes = deliveries.map(({ id }, index) =>
      outcome(id, token, { durationMs: index, responseBody: `$body of ${index}`, at: 5_000 + index }),
    )
    await repository().finish(outcomes)
    for (const { deliveryId, attempt } of outcomes) {
      expect(await repository().listAttempts(deliveryId)).toEqual([attempt])
      expect((await stored(deliveryId)).attemptsFrom).toEqual(toDate(attempt.at))
    }
    expect(await counted()).toBe(0)
  })

  it('are written once when the answer of the store is lost', async () => {
    const deliveries = await made(3)
    const token = await claimed(deliveries)
    const outcomes = deliveries.map(({ id }) => outcome(id, token))
    await repository().finish(outcomes)
    await repository().finish(outcomes)
    for (const { id } of deliveries) expect(await repository().listAttempts(id)).toHaveLength(1)
    expect(await counted()).toBe(0)
  })

  it('follow each other in the row, and are in no list of deliveries', async () => {
    const deliveries = await made(1)
    const [{ id, eventId, endpointId }] = deliveries as [Delivery]
    for (const number of [1, 2, 3]) {
      await repository().finish([outcome(id, await claimed(deliveries), { number, at: 5_000 * number })])
    }
    expect((await repository().listAttempts(id)).map(({ number, at }) => [number, at])).toEqual([
      [1, 5_000],
      [2, 10_000],
      [3, 15_000],
    ])
    expect((await stored(id)).attemptsFrom).toEqual(toDate(5_000))
    const shown = [
      await repository().findById(id),
      ...(await repository().listByEvent(eventId)),
      ...(await repository().findDue([{ endpointId, limit: 1 }], null)),
    ]
    expect(shown).toHaveLength(3)
    for (const row of shown) expect(Object.keys(row ?? {})).not.toContain('attempts')
  })
})

describe('a lease that was lost', () => {
  // Guarantee: a receiver that answers after the lease changes no delivery, and its answer is recorded once.
  it('leaves the row alone and records the attempt beside it, however often it is written', async () => {
    const deliveries = await made(2)
    const [lost, kept] = deliveries as [Delivery, Delivery]
    const former = await claimed(deliveries, -1)
    const holder = await claimed(deliveries)
    const before = await stored(lost.id)
    const late = outcome(lost.id, former, { responseBody: 'late' })
    await repository().finish([late, outcome(kept.id, holder)])
    await repository().finish([late, outcome(kept.id, holder)])
    expect(await stored(lost.id)).toEqual(before)
    expect(await repository().listAttempts(lost.id)).toEqual([late.attempt])
    expect(await repository().listAttempts(kept.id)).toHaveLength(1)
    expect(await counted()).toBe(1)
    await repository().finish([outcome(lost.id, holder, { at: 9_000 })])
    expect((await repository().listAttempts(lost.id)).map(({ number, at }) => [number, at])).toEqual([
      [1, 5_000],
      [1, 9_000],
    ])
    expect(await repository().findById(lost.id)).toMatchObject({ attempt: 1 })
  })

  // Guarantee: no number of late answers makes a delivery grow, or an answer of ours without end.
  it('makes no delivery grow, and what is shown is bounded', async () => {
    const deliveries = await made(1)
    const [{ id }] = deliveries as [Delivery]
    const holder = await claimed(deliveries)
    const late = Array.from({ length: 300 }, (_, index) =>
      outcome(id, `lost-${index}`, { at: index, responseBody: 'x'.repeat(4_096) }),
    )
    await repository().finish(late)
    expect((await stored(id)).attempts).toBeUndefined()
    expect(await counted()).toBe(300)
    await repository().finish([outcome(id, holder)])
    expect((await stored(id)).attempts).toHaveLength(1)
    expect(await repository().listAttempts(id)).toHaveLength(101)
  })

  it('keeps the last ten of a row that has too many', async () => {
    const deliveries = await made(1)
    const [{ id }] = deliveries as [Delivery]
    const token = await claimed(deliveries)
    const attempts = Array.from({ length: 400 }, (_, index) => {
      const { attempt } = outcome(id, token, { number: index })
      return { ...attempt, at: toDate(index), token: `t-${index}` }
    })
    await rows().updateOne({ _id: id }, { $set: { attempts } })
    await repository().finish([outcome(id, token, { number: 400, at: 400 })])
    expect((await repository().listAttempts(id)).map(({ number }) => number)).toEqual([
      ...[391, 392, 393, 394, 395, 396, 397, 398, 399, 400],
    ])
    expect((await stored(id)).attemptsFrom).toEqual(toDate(391))
  })
})
