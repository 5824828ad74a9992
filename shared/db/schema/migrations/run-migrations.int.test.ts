import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { beforeEach, describe, expect, it } from 'vitest'
import { isDigestOf } from '#shared/db/payments/payment-key-digest.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { migrate, verifyIndexes } from '../migrate.ts'
import { schemaVersion, verifySchemaVersion } from '../schema-version.ts'
import { MIGRATIONS, NEWEST_SCHEMA } from './list.ts'
import type { Migration } from './migration.ts'
import { runMigrations } from './run-migrations.ts'

type Dump = Record<
  string,
  { indexes: { name: string; key: Record<string, 1 | -1> }[]; documents: mongoose.mongo.Document[] }
>

const stores = useStores({ migrated: false })
const native = () => stores.db.connection.getClient().db(stores.db.name)
/** What the first release left in its database: a workspace, an endpoint, three invoices of which one is paid, and all around them. */
const firstRelease = mongoose.mongo.BSON.EJSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../test/fixtures/first-release.json'), 'utf8'),
) as Dump

async function load(): Promise<void> {
  await native().dropDatabase()
  for (const [name, { indexes, documents }] of Object.entries(firstRelease)) {
    if (indexes.length > 0) await native().collection(name).createIndexes(indexes)
    if (documents.length > 0) await native().collection(name).insertMany(documents)
  }
}

const documents = async (name: string) => await native().collection(name).find().sort({ _id: 1 }).toArray()
const byId = (rows: readonly mongoose.mongo.Document[]) =>
  [...rows].sort((a, b) => (String(a['_id']) < String(b['_id']) ? -1 : 1))

/** Numbers every product in order, three at a time: a migration as later releases will have them. */
const numbering = (id: number): Migration => ({
  id,
  description: 'Products are numbered',
  readableBy: id,
  up: async ({ db, cursor, keep }) => {
    let after = cursor
    for (;;) {
      const products = db.connection.collection<{ _id: string; number?: number }>('products')
      const behind = after === null ? {} : { _id: { $gt: after } }
      const page = await products.find(behind).sort({ _id: 1 }).limit(3).toArray()
      for (const { _id } of page) await products.updateOne({ _id }, { $inc: { number: 1 } })
      const last = page.at(-1)
      if (last === undefined) return
      after = last._id
      await keep(after)
    }
  },
})

describe('migrations', () => {
  beforeEach(load)

  it('count up from 1 without gaps', () => {
    expect(MIGRATIONS.map(({ id }) => id)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    for (const { id, readableBy } of MIGRATIONS) expect(readableBy).toBeLessThanOrEqual(id)
  })

  // Guards data: an update changes what it says it changes, and no invoice or payment on the way.
  it('bring the first release up to date, once, and leave its records as they were', async () => {
    await expect(verifyIndexes(stores.db)).rejects.toThrow('run paymesh migrate')
    const [first, second] = await Promise.all([migrate(stores.db), migrate(stores.db)])
    expect([...first.migrationsRun, ...second.migrationsRun]).toEqual(MIGRATIONS.map(({ id }) => id))
    await verifyIndexes(stores.db)
    expect((await migrate(stores.db)).migrationsRun).toEqual([])
    const rates = await native().collection('rate_snapshots').indexes()
    expect(rates.filter((index) => index['expireAfterSeconds'] !== undefined)).toEqual([])
    for (const [name, { documents: before }] of Object.entries(firstRelease)) {
      if (name === 'installation') continue
      const stored = (await documents(name)).map(({ keyDigest, ...row }) => {
        if (name === 'payments') expect(isDigestOf(keyDigest, row['key'])).toBe(true)
        return name === 'payments' ? row : { ...row, ...(keyDigest !== undefined && { keyDigest }) }
      })
      expect([name, stored]).toEqual([name, byId(before)])
    }
  })

  // Guards data: whoever pulls the plug during an update, the next try ends it.
  it('go on where they were interrupted, at every step', async () => {
    const products = Array.from({ length: 10 }, (_, index) => ({
      _id: `p-${index}`,
      workspaceId: 'w',
      mode: 'test',
      sku: null,
    }))
    const list = [...MIGRATIONS, numbering(MIGRATIONS.length + 1)]
    let interruptions = 0
    for (let at = 1; ; at += 1) {
      await native()
        .collection<{ _id: string }>('installation')
        .deleteMany({ _id: /^(schema|migration)/ })
      await native()
        .collection('rate_snapshots')
        .createIndex({ at: 1 }, { name: 'rate_at', expireAfterSeconds: 1_296_000 })
      await native().collection<{ _id: string }>('products').deleteMany({})
      await native().collection<{ _id: string }>('products').insertMany(products)
      let writes = 0
      const die = () => {
        writes += 1
        if (writes === at) throw new Error('killed')
      }
      const isInterrupted = await runMigrations(stores.db, list, die).then(
        () => false,
        () => true,
      )
      if (!isInterrupted) break
      interruptions += 1
      expect(await schemaVersion(stores.db)).toBeLessThan(list.length)
      await runMigrations(stores.db, list)
      expect(await schemaVersion(stores.db)).toBe(list.length)
      // What was done after the last note is done twice: such a step must bear that, and no more than its page is repeated.
      const numbers = (await documents('products')).map((row) => Number(row['number']))
      expect(numbers.filter((number) => number < 1)).toEqual([])
      expect(numbers.filter((number) => number > 1).length).toBeLessThanOrEqual(3)
    }
    expect(interruptions).toBeGreaterThan(4)
  })

  deepTest('give an empty database the newest version as it is', async () => {
    await native().dropDatabase()
    expect((await migrate(stores.db)).migrationsRun).toEqual([])
    expect(await schemaVersion(stores.db)).toBe(NEWEST_SCHEMA)
  })

  // Guards data: no process works on data whose meaning it does not know.
  it('keep processes of another version away, and say what to do', async () => {
    await migrate(stores.db)
    const [older, newer] = [NEWEST_SCHEMA, NEWEST_SCHEMA + 1]
    await expect(verifySchemaVersion(stores.db, newer)).rejects.toThrow('run paymesh migrate')
    await runMigrations(stores.db, [...MIGRATIONS, { ...numbering(newer), readableBy: older }])
    await expect(verifySchemaVersion(stores.db, older)).resolves.toBeUndefined()
    await runMigrations(stores.db, [...MIGRATIONS, numbering(newer), numbering(newer + 1)])
    await expect(verifyIndexes(stores.db)).rejects.toThrow('start the version that migrated it')
  })
})
