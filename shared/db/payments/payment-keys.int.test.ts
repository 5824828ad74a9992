import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { PROCESSES } from '#shared/db/installation/process-model.ts'
import { dropFormerKeyIndex } from '#shared/db/schema/drop-former-key-index.ts'
import { migrate, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { verifySchemaVersion } from '#shared/db/schema/schema-version.ts'
import { sampleObservation } from '#test/support/db-samples.ts'
import { becomeFormer, recordAsFormer } from '#test/support/former-payments.ts'
import { useStores } from '#test/support/stores.ts'

import { isDigestOf } from './payment-key-digest.ts'
import { hasTextIndex } from './payment-keys.ts'
import { FORMER_KEY_INDEX, PAYMENTS } from './payment-model.ts'
import { createPaymentRepository } from './payment-repository.ts'

const stores = useStores({ migrated: false })
const native = () => stores.db.connection.getClient().db(stores.db.name)
const rows = () => stores.db.collection(PAYMENTS).find().sort({ key: 1 }).toArray()
const quiet = () => undefined
/** What a process that starts now sees: nothing of what another found out about indexes. */
const process = (): Database => ({ ...stores.db })
const payments = (db: Database = process()) => createPaymentRepository(db, stores.runtime.random)
const finish = (lines: string[] = []) =>
  dropFormerKeyIndex(process(), { finish: true, onProgress: (line) => lines.push(line) })
const keyOf = (nth: number): string => `test:ethereum:0x${nth}:log:${nth}`
const seen = (nth: number) => sampleObservation(keyOf(nth), { invoiceId: `invoice-${nth}`, txHash: `0x${nth}` })

/** Every state of an installation in which a process of this version may work. */
const STAGES = {
  'both indexes, as after the migration': async () => undefined,
  'digests required, the text index still there': async () => {
    await native().command({ collMod: PAYMENTS.name, validator: PAYMENTS.validator, validationLevel: 'moderate' })
  },
  'the text index dropped': async () => {
    expect(await finish()).toBe(true)
  },
  'the text index made again by migrate of the version before': async () => {
    expect(await finish()).toBe(true)
    await stores.db.collection(PAYMENTS).createIndex({ key: 1 }, { name: FORMER_KEY_INDEX, unique: true })
  },
} as const
const stages = Object.keys(STAGES) as (keyof typeof STAGES)[]

async function expectOneRowEach(count: number): Promise<void> {
  const stored = await rows()
  expect(stored.map(({ key }) => key)).toEqual(
    Array.from({ length: count }, (_, nth) => keyOf(nth)).sort((one, other) => (one < other ? -1 : 1)),
  )
}

beforeEach(async () => {
  await stores.db.collection(PAYMENTS).deleteMany({})
  await migrate(stores.db)
  await stores.db.collection(PROCESSES).deleteMany({})
  await becomeFormer(stores.db)
  for (const nth of [0, 1]) await recordAsFormer(stores.db, seen(nth), 1)
  await migrate(process())
})

describe.each(stages)('with %s', (stage) => {
  beforeEach(async () => await STAGES[stage]())

  // Guards money: a transfer that the version before stored is met again under its text and under its digest.
  it('a replay meets the payments of before, and changes none', async () => {
    const before = await payments().findByKeys([keyOf(0), keyOf(1)])
    expect(before).toHaveLength(2)
    expect(await payments().recordObservations([seen(0), seen(1)], 1, 9)).toEqual([])
    const [first] = before.filter(({ key }) => key === keyOf(0))
    expect(await payments().listByTransaction('test', 'ethereum', '0x0')).toEqual([first])
    expect(await payments().attributedAmong([keyOf(1), 'none'])).toEqual(new Set([keyOf(1)]))
    await expectOneRowEach(2)
  })

  // Guards money: whoever comes first, the store holds one row for one key.
  it('writers of both versions with one key, in any order and at once, end with one row', async () => {
    const former = (nth: number) => recordAsFormer(process(), seen(nth), 1).catch((error: unknown) => error)
    const ours = (nth: number) => payments().recordObservations([seen(nth)], 1, 2)
    await former(2)
    await ours(2)
    await ours(3)
    await former(3)
    const keys = Array.from({ length: 16 }, (_, nth) => nth + 4)
    await Promise.all(keys.flatMap((nth) => [former(nth), ours(nth), ours(nth), former(nth)]))
    await Promise.all(keys.map(ours))
    await expectOneRowEach(20)
    for (const { key, keyDigest } of await rows()) expect(keyDigest && isDigestOf(keyDigest, key)).toBe(true)
  })

  it('a fold marks what it applied, a simulated payment is stored once, and a repeat is orphaned', async () => {
    await payments().markApplied([{ key: keyOf(0), version: 1, counted: true, uncountedReason: null, late: false }])
    const [row] = await rows()
    expect(row).toMatchObject({ counted: true })
    expect(row).not.toHaveProperty('dirtyAt')
    const [stored] = await payments().findByKeys([keyOf(0)])
    if (stored === undefined) throw new Error('the payment is missing')
    const simulated = { ...stored, id: stores.runtime.random.uuid(), kind: 'simulated' as const, key: 'sim:i:1' }
    expect(await payments().insertSimulated(simulated)).toBe('inserted')
    expect(await payments().insertSimulated({ ...simulated, id: stores.runtime.random.uuid() })).toBe('exists')
    const place = { mode: 'test', network: 'ethereum', epoch: 1, at: 5 } as const
    const ended = await payments().orphanRepeats({ ...place, keys: [keyOf(1), 'none'] })
    expect(ended.map(({ key, state }) => [key, state])).toEqual([[keyOf(1), 'orphaned']])
  })
})

describe('before the version before is gone', () => {
  // Guards money: until it is impossible that an old process writes, its guard stays.
  it('the text index stays for a day, and while a process of the version before lives', async () => {
    const lines: string[] = []
    const report = (line: string) => lines.push(line)
    expect(await dropFormerKeyIndex(process(), { finish: false, onProgress: report })).toBe(false)
    expect(lines.at(-1)).toMatch(/may be started again for a day/)
    const old = { id: 'p', name: 'scanner', host: 'h', pid: 1, version: '0.1.0', node: '20', silent: [], startedAt: 1 }
    await createProcessHeartbeats(stores.db).beat({ ...old, seenAt: Date.now() })
    expect(await finish(lines)).toBe(false)
    expect(lines.at(-1)).toMatch(/processes of the version before were alive within two minutes \(scanner\)/)
    await expect(verifySchemaVersion(stores.db, 2)).resolves.toBeUndefined()
    await createProcessHeartbeats(stores.db).beat({ ...old, seenAt: Date.now(), schema: 3 })
    const yesterday = new Date(Date.now() - 25 * 3_600_000)
    await stores.db.collection(INSTALLATION).updateOne({ _id: 'migration:3' }, { $set: { changedAt: yesterday } })
    await migrate(process())
    expect(await hasTextIndex(stores.db)).toBe(false)
    await verifyIndexes(stores.db)
    await expect(verifySchemaVersion(stores.db, 2)).rejects.toThrow('which this version cannot work on')
  })

  // Guards money: a process that was suspended over all of it can neither store a transfer a second time nor believe that it did.
  it('a suspended process that wakes up afterwards is refused, and its rows of before are met', async () => {
    await finish()
    await expect(recordAsFormer(process(), seen(7), 1)).rejects.toMatchObject({ code: 121 })
    await expect(recordAsFormer(process(), seen(0), 1)).resolves.toBeUndefined()
    await expectOneRowEach(2)
    expect(await payments().recordObservations([seen(7)], 1, 3)).toHaveLength(1)
    expect(await payments().recordObservations([seen(7)], 1, 4)).toEqual([])
  })

  it('payments that have no digest yet are confirmed and applied while digests are already required', async () => {
    await recordAsFormer(stores.db, seen(2), 1)
    const late: Database = {
      ...stores.db,
      collection: (model) =>
        new Proxy(stores.db.collection(model), {
          get: (from, name) => {
            if (name === 'bulkWrite') throw new Error('killed')
            const value: unknown = Reflect.get(from, name)
            return typeof value === 'function' ? value.bind(from) : value
          },
        }),
    }
    await expect(dropFormerKeyIndex(late, { finish: true, onProgress: quiet })).rejects.toThrow('killed')
    const place = { mode: 'test', network: 'ethereum', height: 1_000, finalizedHeight: null, epoch: 1, at: 5 } as const
    expect(await payments().confirmThrough(place)).toHaveLength(3)
    await payments().markApplied([{ key: keyOf(2), version: 2, counted: true, uncountedReason: null, late: false }])
    expect((await rows())[2]).toMatchObject({ state: 'confirmed', counted: true })
    expect((await rows())[2]).not.toHaveProperty('keyDigest')
    await expect(recordAsFormer(process(), seen(3), 1)).rejects.toMatchObject({ code: 121 })
    await finish()
    await expectOneRowEach(3)
  })

  it('a process of this version that began before the drop goes on by digest', async () => {
    const one = process()
    expect(await payments(one).findByKeys([keyOf(0)])).toHaveLength(1)
    await recordAsFormer(process(), seen(2), 1)
    expect(await payments(one).findByKeys([keyOf(2)])).toHaveLength(1)
    await finish()
    expect(await payments(one).recordObservations([seen(2), seen(0)], 1, 5)).toEqual([])
    expect(await payments(one).findByKeys([keyOf(0), keyOf(2)])).toHaveLength(2)
    await expectOneRowEach(3)
  })

  it('a digest that is not that of its text stops the step before anything is dropped', async () => {
    const [first, second] = await rows()
    if (first?.keyDigest === undefined || second === undefined) throw new Error('the rows have no digests')
    await stores.db.collection(PAYMENTS).updateOne({ _id: second._id }, { $unset: { keyDigest: '' } })
    await stores.db.collection(PAYMENTS).updateOne({ _id: first._id }, { $unset: { keyDigest: '' } })
    await stores.db.collection(PAYMENTS).updateOne({ _id: second._id }, { $set: { keyDigest: first.keyDigest } })
    await expect(finish()).rejects.toThrow(`payment ${second._id} is stored under a digest`)
    expect(await hasTextIndex(stores.db)).toBe(true)
  })
})

/** A database whose connection ends before its `at`-th write or command. */
function dying(at: number): Database {
  let steps = 0
  const killing = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(from, name) {
        const value: unknown = Reflect.get(from, name)
        if (typeof value !== 'function') return value
        if (!['updateOne', 'bulkWrite', 'command'].includes(String(name))) return value.bind(from)
        return async (...given: unknown[]) => {
          steps += 1
          if (steps === at) throw new Error('killed')
          return await value.apply(from, given)
        }
      },
    })
  const connection = { getClient: () => ({ db: () => killing(native()) }) }
  return { ...stores.db, connection: connection as never, collection: (model) => killing(stores.db.collection(model)) }
}

// Guards money: killed before any of its writes, the step leaves one guard at least, and the next run ends it.
it('the drop goes on where it was killed, at every write, beside writers of both versions', async () => {
  let kills = 0
  for (let at = 1; ; at += 1) {
    await becomeFormer(stores.db)
    await recordAsFormer(stores.db, seen(0), 1)
    await migrate(process())
    // Stored by the version before after the migration had passed.
    await recordAsFormer(stores.db, seen(1), 1)
    const isDone = await dropFormerKeyIndex(dying(at), { finish: true, onProgress: quiet }).catch(() => null)
    for (const nth of [0, 1, 2]) await recordAsFormer(process(), seen(nth), 1).catch(quiet)
    await payments().recordObservations([seen(0), seen(1), seen(2)], 1, 2)
    await recordAsFormer(process(), seen(2), 1)
    await expectOneRowEach(3)
    if (isDone === true) break
    kills += 1
    expect(await finish()).toBe(true)
    await expectOneRowEach(3)
    expect(await hasTextIndex(stores.db)).toBe(false)
  }
  expect(kills).toBeGreaterThanOrEqual(4)
})

// Guards data: the migration of a large collection may be stopped anywhere.
it('the migration goes on behind the page that was kept', async () => {
  await becomeFormer(stores.db)
  for (let nth = 0; nth < 5; nth += 1) await recordAsFormer(stores.db, seen(nth), 1)
  const second = (await stores.db.collection(PAYMENTS).find().sort({ _id: 1 }).toArray())[1]?._id ?? ''
  await stores.db
    .collection(INSTALLATION)
    .insertOne({ _id: 'migration-cursor:3', value: second, changedAt: new Date() })
  await migrate(process())
  expect((await rows()).filter(({ keyDigest }) => keyDigest !== undefined)).toHaveLength(3)
  // The first two are filled before anything depends on it.
  await finish()
  expect((await rows()).filter(({ keyDigest }) => keyDigest === undefined)).toEqual([])
})
