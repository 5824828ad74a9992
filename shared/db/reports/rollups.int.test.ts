import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createPrng } from '#test/simulation/kernel/prng.ts'
import { deepDescribe, deepTest, sampleOf } from '#test/support/depth.ts'
import { dyingDatabase, Killed } from '#test/support/dying-database.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { MERCHANTS, openFiguresRig } from '#test/support/figures-rig.ts'
import { useStores } from '#test/support/stores.ts'
import { countSlot } from './rollup-counts.ts'
import { DELIVERY_ROLLUPS, INVOICE_ROLLUPS } from './rollup-models.ts'
import { forgetPosition } from './rollup-position.ts'
import { createRollupRows, slotAt } from './rollup-rows.ts'
import { createRollups } from './rollups.ts'

const stores = useStores()
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Longer than any pause between two counts of a slot. */
const LATER = HOUR
/** Random histories: `ROLLUP_HISTORIES=6` of the deep tier. */
const HISTORIES = Number(globalThis.process.env['ROLLUP_HISTORIES'] ?? (EVERY_CASE ? 3 : 1))

/** What is stored expires by the real clock, so that invented histories end after it. */
const start = Date.now()
const rig = () => openFiguresRig(stores.db)

beforeEach(async () => {
  await forgetAll()
  await stores.db.collection(INSTALLATION).deleteMany({ _id: /^rollups/ })
})

/** A process of its own: nothing is remembered from before. */
const process = (db: Database = stores.db) => createRollups(db)

// Guards figures of money: what the overview shows is a full count, whatever happened.
describe('stored figures', () => {
  it.each(Array.from({ length: HISTORIES }, (_, seed) => seed))('equal a full count after history %i', async (seed) => {
    const random = createPrng(`figures ${seed}`)
    const world = rig()
    const processes = [process(), process()]
    let now = start
    for (let step = 0; step < 30; step += 1) {
      now += random.between(0, 40 * MINUTE)
      if (random.chance(0.7)) await world.create(random, now, random.between(1, 6))
      if (random.chance(0.7)) await world.change(random, now, random.between(1, 8))
      if (random.chance(0.5)) await processes[random.between(0, 1)]?.catchUp(now)
    }
    await process().catchUp(now + LATER)
    await world.expectFullCount(now + LATER)
  })

  deepTest('are right in every zone, on days with a change of the clock too', async () => {
    const random = createPrng('zones')
    const world = rig()
    await world.create(random, start, 40)
    for (let hour = 1; hour < 60; hour += 1) await world.create(random, start + hour * 37 * MINUTE, 2)
    const now = start + 40 * HOUR
    await world.change(random, now, 60)
    await process().catchUp(now)
    const zones = ['UTC', 'Asia/Kathmandu', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/St_Johns']
    for (const zone of sampleOf(zones, 3)) {
      await world.expectFullCount(now, zone)
    }
  })

  deepTest('miss nothing when the process that counts is killed before or after any write', async () => {
    const random = createPrng('killed')
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at += 1) {
        const world = rig()
        await world.create(random, start, 6)
        await process().catchUp(start)
        await world.create(random, start + MINUTE, 3)
        await world.change(random, start + MINUTE, 4)
        const wasKilled = await process(dyingDatabase(stores.db, at, when))
          .catchUp(start + 10 * MINUTE)
          .then(
            () => false,
            (error: unknown) => error instanceof Killed,
          )
        await world.change(random, start + 11 * MINUTE, 3)
        await process().catchUp(start + LATER)
        await world.expectFullCount(start + LATER)
        await forgetAll()
        if (wasKilled) continue
        expect(at).toBeGreaterThan(3)
        break
      }
    }
  })

  deepTest('are right after many processes counted at once, while invoices changed', async () => {
    const random = createPrng('many')
    const world = rig()
    await world.create(random, start, 30)
    let now = start
    for (let round = 0; round < (EVERY_CASE ? 12 : 4); round += 1) {
      now += 3 * MINUTE
      const counting = Array.from({ length: 6 }, () => process().catchUp(now))
      await world.change(random, now, 10)
      await world.create(random, now, 4)
      await Promise.all(counting)
    }
    await Promise.all(Array.from({ length: 6 }, () => process().catchUp(now + LATER)))
    await world.expectFullCount(now + LATER)
  })

  it('refuse a count that began before its slot was marked', async () => {
    const random = createPrng('stale')
    const world = rig()
    await world.create(random, start, 5)
    const rows = createRollupRows(stores.db)
    await process().catchUp(start)
    const slot = slotAt('invoices', MERCHANTS[0], 'test', start)
    await rows.mark([slot], start + HOUR)
    const [due] = await rows.due('invoices', start + HOUR, 1)
    if (due === undefined) throw new Error('nothing is due')
    const stale = await countSlot(stores.db, due.slot)
    await rows.mark([slot], start + HOUR)
    expect(await rows.store(due, stale, start + HOUR)).toBe(false)
    expect(await rows.due('invoices', start + HOUR, 9)).toHaveLength(1)
  })

  deepTest('are the same when they are counted for the first time late, in parts', async () => {
    const random = createPrng('first time')
    const world = rig()
    const weeks = EVERY_CASE ? 20 : 8
    for (let week = 0; week < weeks; week += 1) await world.create(random, start - week * 7 * DAY, 3)
    await world.change(random, start, 25)
    let asked = 0
    const stop = () => {
      asked += 1
      return asked % 3 === 0
    }
    for (let part = 0; part < 60; part += 1) await process().catchUp(start + LATER, { stop })
    await process().catchUp(start + LATER)
    await world.expectFullCount(start + LATER)
  })
})

describe('the hourly comparison', () => {
  it('finds an invoice that was stored long after its id was made', async () => {
    const random = createPrng('late')
    const world = rig()
    await world.create(random, start, 4)
    const one = process()
    await one.catchUp(start)
    await one.catchUp(start + HOUR)
    await world.create(random, start + 2 * MINUTE, 1)
    await one.catchUp(start + HOUR + MINUTE)
    const found = await process().repair(start + HOUR + MINUTE)
    expect(found).toMatchObject([{ of: 'invoices' }])
    await one.catchUp(start + 3 * HOUR)
    await world.expectFullCount(start + 3 * HOUR)
    expect(await process().repair(start + 3 * HOUR)).toEqual([])
  })

  deepTest('finds within a week what somebody changed or removed past the code', async () => {
    const random = createPrng('edited')
    const world = rig()
    for (let day = 1; day < 25; day += 1) await world.create(random, start - day * 7 * DAY, 2)
    await process().catchUp(start)
    const invoices = stores.db.collection(INVOICES)
    const [row] = await invoices.find().sort({ _id: 1 }).skip(20).limit(1).toArray()
    await invoices.updateOne({ _id: row?._id ?? '' }, { $set: { status: 'cancelled', locks: [] } })
    const [, stored] = await stores.db.collection(INVOICE_ROLLUPS).find().sort({ at: -1 }).toArray()
    await stores.db.collection(INVOICE_ROLLUPS).deleteOne({ _id: stored?._id ?? '' })
    const found = []
    for (let round = 0; round < 168; round += 1) found.push(...(await process().repair(start + LATER)))
    expect(found).toHaveLength(2)
    await process().catchUp(start + LATER)
    await world.expectFullCount(start + LATER)
  })

  it('does not report a change that is only not counted yet', async () => {
    const random = createPrng('waiting')
    const world = rig()
    await world.create(random, start, 6)
    await process().catchUp(start)
    await world.change(random, start + MINUTE, 6)
    expect(await process().repair(start + MINUTE)).toEqual([])
    await process().catchUp(start + LATER)
    await world.expectFullCount(start + LATER)
  })
})

deepDescribe('figures of deliveries', () => {
  it('equal a full count after random histories, in the quarters of a day', async () => {
    const random = createPrng('deliveries')
    const world = rig()
    const processes = [process(), process()]
    let now = start
    await world.addEndpoints()
    for (let step = 0; step < (EVERY_CASE ? 60 : 20); step += 1) {
      now += random.between(0, 15 * MINUTE)
      if (random.chance(0.7)) await world.announce(random, now, random.between(1, 6))
      if (random.chance(0.8)) await world.attempt(random, now, random.between(1, 8))
      if (random.chance(0.5)) await processes[random.between(0, 1)]?.catchUp(now)
    }
    await process().catchUp(now + MINUTE)
    await process().catchUp(now + LATER)
    await world.expectDeliveryCount(now + LATER)
  })
})

async function forgetAll(): Promise<void> {
  await stores.db.collection(INVOICES).deleteMany({})
  await stores.db.collection(INVOICE_ROLLUPS).deleteMany({})
  await stores.db.collection(DELIVERY_ROLLUPS).deleteMany({})
  await forgetPosition(stores.db)
}
