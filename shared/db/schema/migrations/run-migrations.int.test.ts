import { beforeEach, describe, expect, it } from 'vitest'
import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { migrate, verifyIndexes } from '../migrate.ts'
import { schemaVersion, verifySchemaVersion } from '../schema-version.ts'
import { MIGRATIONS, NEWEST_SCHEMA } from './list.ts'
import type { Migration } from './migration.ts'
import { runMigrations } from './run-migrations.ts'

const stores = useStores({ migrated: false })
const native = () => stores.db.connection.getClient().db(stores.db.name)
const products = () => stores.db.connection.collection<{ _id: string; number?: number }>(PRODUCTS.name)
const NEXT = MIGRATIONS.length + 1

/** Numbers every product in order, three at a time: a migration as later releases will have them. */
const numbering = (id: number): Migration => ({
  id,
  description: 'Products are numbered',
  readableBy: id,
  up: async ({ db, cursor, keep }) => {
    let after = cursor
    for (;;) {
      const products = db.connection.collection<{ _id: string; number?: number }>(PRODUCTS.name)
      const behind = after === null ? {} : { _id: { $gt: after } }
      const page = await products.find(behind).sort({ _id: 1 }).limit(3).toArray()
      for (const { _id } of page)
        await products.updateOne({ _id }, { $inc: { number: 1 } }, { bypassDocumentValidation: true })
      const last = page.at(-1)
      if (last === undefined) return
      after = last._id
      await keep(after)
    }
  },
})

/** A database of the present version with ten products. */
async function fill(): Promise<void> {
  await native().dropDatabase()
  await migrate(stores.db)
  const rows = Array.from({ length: 10 }, (_, n) => ({ _id: `p-${n}`, workspaceId: 'w', mode: 'test', sku: null }))
  await products().insertMany(rows, { bypassDocumentValidation: true })
}

const numbers = async () => (await products().find().toArray()).map(({ number }) => number ?? 0)

describe('migrations', () => {
  beforeEach(fill)

  it('count up from 1 without gaps', () => {
    expect(MIGRATIONS.map(({ id }) => id)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    for (const { id, readableBy } of MIGRATIONS) expect(readableBy).toBeLessThanOrEqual(id)
  })

  // Guards data: two processes that migrate at once change each document once.
  it('run once, however many processes start them', async () => {
    const list = [...MIGRATIONS, numbering(NEXT)]
    const ran = await Promise.all([runMigrations(stores.db, list), runMigrations(stores.db, list)])
    expect(ran.flat()).toEqual([NEXT])
    expect(await numbers()).toEqual(Array.from({ length: 10 }, () => 1))
    expect(await runMigrations(stores.db, list)).toEqual([])
    expect(await schemaVersion(stores.db)).toBe(NEXT)
  })

  // Guards data: whoever pulls the plug during an update, the next try ends it.
  it('go on where they were interrupted, at every step', async () => {
    const list = [...MIGRATIONS, numbering(NEXT)]
    let interruptions = 0
    const facts = native().collection<{ _id: string }>('installation')
    for (let at = 1; ; at += 1) {
      await facts.deleteMany({ _id: /^(schema|migration)/ as never })
      await products().updateMany({}, { $unset: { number: '' } }, { bypassDocumentValidation: true })
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
      expect((await numbers()).filter((number) => number < 1)).toEqual([])
      expect((await numbers()).filter((number) => number > 1).length).toBeLessThanOrEqual(3)
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
    const [older, newer] = [NEWEST_SCHEMA, NEWEST_SCHEMA + 1]
    await expect(verifySchemaVersion(stores.db, newer)).rejects.toThrow('run paymesh migrate')
    await runMigrations(stores.db, [...MIGRATIONS, { ...numbering(newer), readableBy: older }])
    await expect(verifySchemaVersion(stores.db, older)).resolves.toBeUndefined()
    await runMigrations(stores.db, [...MIGRATIONS, numbering(newer), numbering(newer + 1)])
    await expect(verifyIndexes(stores.db)).rejects.toThrow('start the version that migrated it')
  })
})
