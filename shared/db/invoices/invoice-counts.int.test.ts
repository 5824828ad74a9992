import { describe, expect, it } from 'vitest'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import type { InvoiceTerms } from '#shared/domain/invoice/model.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { INVOICE_COUNTS } from './invoice-count-model.ts'
import { createInvoiceCounts } from './invoice-counts.ts'
import { createInvoiceRepository } from './invoice-repository.ts'

const stores = useStores()
const MONTH_STARTS = Date.UTC(2026, 9, 1)
const NOON = Date.UTC(2026, 9, 20, 12)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NO_LIMIT_NEAR = 1_000_000
let number = 0

/** An invoice whose id and time of creation are `at`, as it is stored by any version. */
async function created(workspaceId: string, at: number, source: InvoiceTerms['source'] = 'api'): Promise<void> {
  number += 1
  const { terms, ...same } = sampleInvoice(stores.runtime.random, { workspaceId, number, at })
  const id = `${uuidLowerBound(at).slice(0, 13)}-7000-8000-${number.toString(16).padStart(12, '0')}`
  await createInvoiceRepository(stores.db).insert({ ...same, terms: { ...terms, id, source } })
}

async function many(workspaceId: string, count: number, at: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => created(workspaceId, at + index)))
}

/** A separate process: nothing is remembered from before. */
const process = () => createInvoiceCounts(stores.db)
const scope = (workspaceId: string, at = NOON) => ({ workspaceId, mode: 'test' as const, at })
const exact = async (workspaceId: string, at = NOON) => await process().inMonth(scope(workspaceId, at), 0)
const stored = async (workspaceId: string) => await stores.db.collection(INVOICE_COUNTS).findOne({ workspaceId })

// Guards plans: the count is that of the invoices, no matter which process created them.
describe('the invoices of a month', () => {
  it('are those of one workspace, mode and month, by their ids', async () => {
    await created('borders', MONTH_STARTS - 1)
    await created('borders', MONTH_STARTS)
    await created('borders', NOON, 'link')
    await created('borders', Date.UTC(2026, 10, 1))
    await created('others', NOON)
    expect(await exact('borders')).toEqual({ all: 2, byLinks: 1 })
    expect(await exact('borders', Date.UTC(2026, 10, 2))).toEqual({ all: 1, byLinks: 0 })
    expect(await process().inMonth({ ...scope('borders'), mode: 'live' }, 0)).toEqual({ all: 0, byLinks: 0 })
  })

  deepTest('are counted once by many processes that move the stored count at the same time', async () => {
    await many('crowd', 450, NOON - 10 * MINUTE)
    const processes = Array.from({ length: 8 }, process)
    const first = await Promise.all(processes.map((one) => one.inMonth(scope('crowd'), 0)))
    expect(first).toEqual(first.map(() => ({ all: 450, byLinks: 0 })))
    await many('crowd', 300, NOON)
    const later = await Promise.all(processes.map((one) => one.inMonth(scope('crowd', NOON + HOUR), 0)))
    expect(later).toEqual(later.map(() => ({ all: 750, byLinks: 0 })))
    expect(await stored('crowd')).toMatchObject({ all: 750 })
    expect(await exact('crowd', NOON + HOUR)).toEqual({ all: 750, byLinks: 0 })
  })

  it('are exact for a process that read the stored count before another one moved it', async () => {
    await many('overtaken', 250, NOON - HOUR)
    await exact('overtaken', NOON)
    const before = await stored('overtaken')
    await many('overtaken', 250, NOON)
    await exact('overtaken', NOON + HOUR)
    // What the slow process would still do: its compare-and-set names the former place.
    const late = { _id: before?._id ?? '', through: before?.through ?? '' }
    const change = { $inc: { all: 250 } }
    expect((await stores.db.collection(INVOICE_COUNTS).updateOne(late, change)).matchedCount).toBe(0)
    expect(await exact('overtaken', NOON + HOUR)).toEqual({ all: 500, byLinks: 0 })
  })

  it('include what a version without stored counts makes, at once', async () => {
    await many('upgrade', 250, NOON - HOUR)
    expect(await exact('upgrade')).toEqual({ all: 250, byLinks: 0 })
    await created('upgrade', NOON - 1)
    expect(await exact('upgrade')).toEqual({ all: 251, byLinks: 0 })
  })

  it('are read for each question when few are left, and not for each while many are', async () => {
    await many('cached', 3, NOON - MINUTE)
    const one = process()
    expect((await one.inMonth(scope('cached'), NO_LIMIT_NEAR)).all).toBe(3)
    await created('cached', NOON - 1)
    // The process counts its own question instead of reading.
    expect((await one.inMonth(scope('cached', NOON + 1), NO_LIMIT_NEAR)).all).toBe(4)
    expect((await one.inMonth(scope('cached', NOON + 2), NO_LIMIT_NEAR)).all).toBe(5)
    expect((await one.inMonth(scope('cached', NOON + 3), 900)).all).toBe(4)
    expect((await one.inMonth(scope('cached', NOON + 29_000), NO_LIMIT_NEAR)).all).toBe(5)
    expect((await one.inMonth(scope('cached', NOON + 31_000), NO_LIMIT_NEAR)).all).toBe(4)
  })

  // A hundred requests that each read what a busy store made in four minutes took a fifth of its time.
  it('are read once for requests that come together while many are left, and for each while few are', async () => {
    await many('together', 3, NOON - MINUTE)
    const one = process()
    const request = async (ms: number, limit: number) => {
      const requests = Array.from(
        { length: 20 },
        async () => (await one.inMonth(scope('together', NOON + ms), limit)).all,
      )
      return (await Promise.all(requests)).toSorted((a, b) => a - b)
    }
    const numbered = Array.from({ length: 20 }, (_, index) => 3 + index)
    expect(await request(0, NO_LIMIT_NEAR)).toEqual(numbered)
    expect(await request(31_000, NO_LIMIT_NEAR)).toEqual(numbered)
    expect(await request(62_000, 900)).toEqual(numbered.map(() => 3))
  })

  it('are read again the sooner the fewer are left', async () => {
    await many('nearing', 3, NOON - MINUTE)
    const one = process()
    const at = async (ms: number, limit: number) => (await one.inMonth(scope('nearing', NOON + ms), limit)).all
    // 5,000 are left: a count is good for five seconds.
    expect(await at(0, 5_003)).toBe(3)
    await created('nearing', NOON - 1)
    expect(await at(4_900, 5_003)).toBe(4)
    expect(await at(5_100, 5_003)).toBe(4)
    await created('nearing', NOON - 1)
    await created('nearing', NOON - 1)
    expect(await at(6_000, 5_003)).toBe(5)
    expect(await at(10_200, 5_003)).toBe(6)
  })
})

describe('the hourly comparison', () => {
  it('finds invoices that were stored long after their ids were made, and what somebody changed', async () => {
    await many('late', 250, NOON - 3 * HOUR)
    await exact('late')
    await created('late', NOON - 2 * HOUR)
    expect((await exact('late')).all).toBe(250)
    const found = { workspaceId: 'late', mode: 'test', month: '2026-10', stored: 250, right: 251 }
    expect(await process().repair(NOON)).toEqual([found])
    expect((await exact('late')).all).toBe(251)
    expect(await process().repair(NOON)).toEqual([])
    await stores.db.collection(INVOICE_COUNTS).updateOne({ workspaceId: 'late' }, { $set: { all: 7, byLinks: 9 } })
    expect(await process().repair(NOON + HOUR)).toEqual([{ ...found, stored: 7 }])
    expect(await exact('late')).toEqual({ all: 251, byLinks: 0 })
  })

  deepTest('goes on from the last one, with two of them at once', async () => {
    await many('twice', 250, NOON - 5 * HOUR)
    await exact('twice')
    await Promise.all([process().repair(NOON), process().repair(NOON)])
    const first = await stored('twice')
    await many('twice', 250, NOON)
    await exact('twice', NOON + 5 * HOUR)
    await Promise.all([process().repair(NOON + 6 * HOUR), process().repair(NOON + 6 * HOUR)])
    const second = await stored('twice')
    expect(second).toMatchObject({ all: 500, checkedAll: 500 })
    expect((second?.checkedThrough ?? '') > (first?.checkedThrough ?? '')).toBe(true)
  })
})
