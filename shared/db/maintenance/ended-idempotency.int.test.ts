import { beforeEach, describe, expect, it } from 'vitest'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { keepRetention } from '#shared/usecases/maintenance/keep-retention.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { dyingDatabase, ProcessKilled } from '#test/support/dying-database.ts'
import { useStores } from '#test/support/stores.ts'
import { createRetentionRepository, removeEndedIdempotency } from './retention-repository.ts'

const stores = useStores()
const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.UTC(2026, 9, 20, 12)
let number = 0

beforeEach(async () => {
  await stores.db.collection(INVOICES).deleteMany({})
  await stores.db.collection(INSTALLATION).deleteMany({ _id: 'idempotency-removed-through' })
})

async function created(at: number, idempotencyKey?: string): Promise<string> {
  number += 1
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  const { terms, ...same } = sampleInvoice(stores.runtime.random, { number, at, ...key })
  const id = `${uuidLowerBound(at).slice(0, 13)}-7000-8000-${number.toString(16).padStart(12, '0')}`
  await createInvoiceRepository(stores.db).insert({ ...same, terms: { ...terms, id } })
  return id
}

async function guarded(): Promise<readonly string[]> {
  const found = await stores.db
    .collection(INVOICES)
    .find({ idem: { $exists: true } })
    .sort({ _id: 1 })
    .toArray()
  return found.map(({ idem }) => idem?.key ?? '')
}

const retention = (now: number, shouldStop: () => boolean = () => false) =>
  keepRetention(
    {
      retention: createRetentionRepository(stores.db),
      metrics: createMetrics({ defaults: false }),
      clock: { now: () => now },
    },
    shouldStop,
  )

describe('guards of idempotency keys', () => {
  // Guards retries: a request that is repeated within a day gets the same invoice.
  it('stand for a day and are gone some hours later; the invoice stays as it was', async () => {
    const id = await created(NOW - 30 * HOUR, 'old')
    await created(NOW - 29 * HOUR)
    await created(NOW - 23 * HOUR, 'young')
    const before = await stores.db.collection(INVOICES).findOne({ _id: id })
    await retention(NOW)
    expect(await guarded()).toEqual(['young'])
    const { idem: _idem, ...same } = before ?? { idem: null }
    expect(await stores.db.collection(INVOICES).findOne({ _id: id })).toEqual(same)
    expect(await createInvoiceRepository(stores.db).findByIdempotencyKey('ws-1', 'test', 'old')).toBeNull()
    await retention(NOW + 10 * HOUR)
    expect(await guarded()).toEqual([])
  })

  it('are removed in batches, each invoice once', async () => {
    for (let index = 0; index < 25; index += 1) await created(NOW - 10 * DAY + index, `many-${index}`)
    expect(await removeEndedIdempotency(stores.db, NOW, 10)).toBe(10)
    expect(await guarded()).toHaveLength(15)
    expect(await removeEndedIdempotency(stores.db, NOW, 10)).toBe(10)
    expect(await removeEndedIdempotency(stores.db, NOW, 10)).toBe(5)
    expect(await guarded()).toEqual([])
    expect(await removeEndedIdempotency(stores.db, NOW, 10)).toBe(0)
  })

  it('are not passed while they stand, whatever time the id carries', async () => {
    await created(NOW - 5 * DAY, 'first')
    const id = await created(NOW - 4 * DAY, 'later')
    await created(NOW - 3 * DAY, 'last')
    await stores.db.collection(INVOICES).updateOne({ _id: id }, { $set: { 'idem.at': new Date(NOW - HOUR) } })
    await retention(NOW)
    expect(await guarded()).toEqual(['later', 'last'])
    await retention(NOW + 2 * DAY)
    expect(await guarded()).toEqual([])
  })

  it('are all removed by processes that are killed before or after any write', async () => {
    for (const when of ['before', 'after'] as const) {
      for (const at of [1, 2, 3, 4]) {
        const ids = ['a', 'b', 'c'].map((name) => `${when}-${at}-${name}`)
        for (const key of ids) await created(NOW - 3 * DAY + at * HOUR + (when === 'after' ? 12 * HOUR : 0), key)
        const dying = dyingDatabase(stores.db, at, when)
        const killed = async () => {
          for (let batch = 0; batch < 3; batch += 1) await removeEndedIdempotency(dying, NOW, 2)
        }
        await expect(killed()).rejects.toThrow(ProcessKilled)
        while ((await removeEndedIdempotency(stores.db, NOW, 2)) > 0);
        expect(await guarded()).toEqual([])
      }
    }
  })
})
