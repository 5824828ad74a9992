import { EventEmitter, once } from 'node:events'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createPrng, type Prng } from '#test/simulation/kernel/prng.ts'
import { deepDescribe, deepTest, sampleOf } from '#test/support/depth.ts'
import { dyingDatabase, ProcessKilled } from '#test/support/dying-database.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { MERCHANTS, openFiguresRig } from '#test/support/figures-rig.ts'
import { useStores } from '#test/support/stores.ts'
import { DELIVERY_ROLLUPS, HOUR_MS, INVOICE_ROLLUPS } from './rollup-models.ts'
import { createRollups, figuresAsOf, ROLLUPS_FACT } from './rollups.ts'

const stores = useStores()
const MINUTE = 60_000
const HOUR = HOUR_MS
const DAY = 24 * HOUR
/** Longer than any pause between two counts of a slot. */
const LATER = HOUR
/** Random histories: `ROLLUP_HISTORIES=6` of the deep tier. */
const HISTORIES = Number(globalThis.process.env['ROLLUP_HISTORIES'] ?? (EVERY_CASE ? 3 : 1))

/** What is stored expires by the real clock, so that invented histories end after it. */
const start = Date.now()
/** In the middle of an hour, and at least an hour ago. */
const earlier = (Math.floor(start / HOUR) - 1.5) * HOUR
/** In the middle of an hour, and ahead of the store's clock. */
const ahead = earlier + 3 * HOUR
const nightAfter = (at: number) => (Math.floor(at / DAY) + 1) * DAY + MINUTE
const rig = () => openFiguresRig(stores.db)

beforeEach(forgetAll)

/** A separate process: nothing is remembered from before. */
const process = (db: Database = stores.db) => createRollups(db)

/** A round of a process that dies at one of its first writes, or survives. */
async function dyingRound(random: Prng, now: number): Promise<void> {
  const db = dyingDatabase(stores.db, random.between(1, 6), random.pick(['before', 'after'] as const))
  await process(db)
    .catchUp(now)
    .catch((error: unknown) => {
      if (!(error instanceof ProcessKilled)) throw error
    })
}

// Guards figures of money: what the overview shows is a full count, whatever happened.
describe('stored figures', () => {
  it.each(Array.from({ length: HISTORIES }, (_, seed) => seed))('equal a full count after history %i', async (seed) => {
    const random = createPrng(`figures ${seed}`)
    const world = rig()
    const processes = [process(), process()] as const
    let now = start
    for (let step = 0; step < 30; step += 1) {
      now += random.between(0, random.chance(0.5) ? 40 * MINUTE : 10_000)
      if (random.chance(0.7)) await world.create(random, now, random.between(1, 6))
      if (random.chance(0.7)) await world.change(random, now, random.between(1, 8))
      if (random.chance(0.5)) await random.pick(processes).catchUp(now)
      if (random.chance(0.3)) await dyingRound(random, now)
    }
    await random.pick(processes).catchUp(now + LATER)
    await world.expectFullCount(now + LATER)
    // Writes that arrive long after their stamps are counted in the night, which may be interrupted too.
    await world.create(random, now - DAY, 5)
    await world.change(random, now - HOUR, 20)
    const night = nightAfter(now + LATER)
    await dyingRound(random, night)
    await random.pick(processes).catchUp(night)
    await world.expectFullCount(night)
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
            (error: unknown) => error instanceof ProcessKilled,
          )
        await world.change(random, start + 11 * MINUTE, 3)
        await process().catchUp(start + LATER)
        await world.expectFullCount(start + LATER)
        await forgetAll()
        if (wasKilled) continue
        expect(at).toBeGreaterThan(2)
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

  it('keep the count that began later, when a process goes on after it lost its lease', async () => {
    const random = createPrng('stale')
    const world = rig()
    await world.create(random, earlier, 12)
    const { db, reached, resume } = standingBeforeWrite()
    const slow = process(db).catchUp(earlier)
    await reached
    await world.change(random, earlier + 10 * MINUTE, 12)
    await process().catchUp(earlier + 10 * MINUTE)
    resume()
    await slow
    await world.expectFullCount(earlier + 10 * MINUTE)
  })

  it('do not wait for a clock that was set back', async () => {
    const random = createPrng('clock')
    const world = rig()
    const one = process()
    await world.create(random, ahead, 10)
    await one.catchUp(ahead + 20 * MINUTE)
    await world.change(random, ahead + 5 * MINUTE, 10)
    await one.catchUp(ahead + 5 * MINUTE)
    await world.expectFullCount(ahead + 5 * MINUTE)
  })

  deepTest('are the same when they are counted for the first time late, in parts', async () => {
    const random = createPrng('first time')
    const world = rig()
    const weeks = EVERY_CASE ? 20 : 8
    for (let week = 0; week < weeks; week += 1) await world.create(random, start - week * 7 * DAY, 3)
    await world.change(random, start, 25)
    let requests = 0
    const stop = () => {
      requests += 1
      return requests % 3 === 0
    }
    await process().catchUp(start + LATER, { stop })
    expect(await figuresAsOf(stores.db)).toBeNull()
    for (let part = 0; part < 4 * weeks; part += 1) await process().catchUp(start + LATER, { stop })
    expect(await figuresAsOf(stores.db)).toBe(start + LATER)
    await world.expectFullCount(start + LATER)
  })
})

describe('the rounds', () => {
  // Guards the store: a busy hour is not read again for each of its changes.
  it('count a slot again after 3 ms for each of its documents, and say as of when figures are', async () => {
    const random = createPrng('busy')
    const world = rig()
    await world.create(random, earlier, 2_200)
    const invoices = stores.db.collection(INVOICES)
    await invoices.updateMany({}, { $set: { workspaceId: MERCHANTS[0], mode: 'test' } })
    const one = process()
    expect(await one.catchUp(earlier)).toBe(1)
    await world.change(random, earlier + 2 * MINUTE, 1)
    expect(await one.catchUp(earlier + 2 * MINUTE)).toBeGreaterThan(0)
    await world.change(random, earlier + 4 * MINUTE, 1)
    // Another workspace is counted meanwhile, and the figures as a whole are as old as the one that waits.
    await world.create(random, earlier + 2 * MINUTE + 6_000, 1)
    const newest = { sort: { number: -1 }, projection: { _id: 1 } } as const
    await invoices.findOneAndUpdate({}, { $set: { workspaceId: MERCHANTS[1] } }, newest)
    expect(await one.catchUp(earlier + 2 * MINUTE + 6_500)).toBe(1)
    expect(await figuresAsOf(stores.db)).toBe(earlier + 2 * MINUTE)
    expect(await one.catchUp(earlier + 2 * MINUTE + 6_700)).toBeGreaterThan(0)
    expect(await figuresAsOf(stores.db)).toBe(earlier + 2 * MINUTE + 6_700)
    await world.expectFullCount(earlier + 4 * MINUTE)
  })

  it('count each change twice at most, and then rest', async () => {
    const random = createPrng('rest')
    const world = rig()
    await world.create(random, earlier, 1)
    const one = process()
    const counts: number[] = []
    for (let second = 0; second <= 300; second += 10) counts.push(await one.catchUp(earlier + second * 1_000))
    expect(counts.filter((count) => count > 0)).toEqual([1, 1])
    expect(await figuresAsOf(stores.db)).toBeGreaterThan(earlier + 260_000)
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
      if (random.chance(0.2)) await dyingRound(random, now)
    }
    await process().catchUp(now + MINUTE)
    await process().catchUp(now + LATER)
    await world.expectDeliveryCount(now + LATER)
  })
})

/** The database of a process that stands still before its first write of figures, until it resumes. */
function standingBeforeWrite() {
  const standing = new EventEmitter()
  const [reached, resumed] = [once(standing, 'reached'), once(standing, 'resumed')]
  const collection: Database['collection'] = (model) =>
    new Proxy(stores.db.collection(model), {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return async (...args: unknown[]) => {
          standing.emit('reached')
          await resumed
          return member.apply(target, args)
        }
      },
    })
  const isFigures = (name: string) => name === INVOICE_ROLLUPS.name || name === DELIVERY_ROLLUPS.name
  const db: Database = {
    ...stores.db,
    collection: (model) => (isFigures(model.name) ? collection(model) : stores.db.collection(model)),
  }
  return { db, reached, resume: () => standing.emit('resumed') }
}

async function forgetAll(): Promise<void> {
  for (const model of [INVOICE_ROLLUPS, DELIVERY_ROLLUPS, EVENTS, WEBHOOK_DELIVERIES]) {
    await stores.db.collection<{ _id: string }>(model as never).deleteMany({})
  }
  await stores.db.collection(INVOICES).deleteMany({})
  await stores.db.collection(INSTALLATION).deleteOne({ _id: ROLLUPS_FACT })
}
