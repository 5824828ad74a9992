import { describe, expect, it } from 'vitest'
import { type BackupTotals, readBackup } from '#shared/db/backup/backup-source.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { useStores } from '#test/support/stores.ts'
import { migrate, verifyIndexes } from './migrate.ts'
import { MODELS } from './models.ts'

const stores = useStores({ migrated: false })
const everyIndex = MODELS.flatMap((model) => model.indexes.map((index) => `${model.name}.${index.name}`))

describe('migrate', () => {
  // Guarantee: no process works without the unique indexes that guard money.
  it('lets nobody start before it ran, creates everything, and finds nothing to do again', async () => {
    await expect(verifyIndexes(stores.db)).rejects.toThrow(/^database \S+ is not migrated yet: run paymesh migrate$/)
    const reports = await Promise.all([migrate(stores.db), migrate(stores.db)])
    // Each says what was missing when it looked; the other one may have been faster by a few.
    const said = <K extends 'indexesCreated' | 'collectionsCreated'>(what: K) =>
      reports.flatMap((report) => report[what])
    expect([...new Set(said('indexesCreated'))].sort()).toEqual([...everyIndex].sort())
    expect(new Set(said('collectionsCreated'))).toEqual(new Set(MODELS.map(({ name }) => name)))
    await expect(verifyIndexes(stores.db)).resolves.toBeUndefined()
    expect(await migrate(stores.db)).toEqual({ collectionsCreated: [], indexesCreated: [], migrationsRun: [] })
  })

  // Guarantee: an update does not depend on what an older version stored and this one no longer uses.
  it('leaves a collection of an older version alone and starts beside it', async () => {
    await migrate(stores.db)
    const former = stores.db.connection.collection<{ _id: string; seenAt: Date }>('exception_viewers')
    await former.createIndex({ seenAt: 1 }, { name: 'exception_viewer_life', expireAfterSeconds: 3_600 })
    await former.insertOne({ _id: 'connection', seenAt: new Date() })
    expect(await migrate(stores.db)).toEqual({ collectionsCreated: [], indexesCreated: [], migrationsRun: [] })
    await expect(verifyIndexes(stores.db)).resolves.toBeUndefined()
    expect(await former.countDocuments()).toBe(1)
    const taken: BackupTotals[] = []
    const records = readBackup(stores.db, {
      id: 'test',
      onProgress: () => undefined,
      onEnd: (totals) => taken.push(totals),
    })
    for await (const record of records) expect(record.includes('exception_viewers')).toBe(false)
    expect(taken[0]?.ignored).toEqual(['exception_viewers'])
  })

  it('compresses what it creates with zstd, and says what it builds over documents that are there', async () => {
    await migrate(stores.db)
    const native = stores.db.connection.getClient().db(stores.db.name)
    const made = await native.listCollections({ name: 'invoices' }).toArray()
    expect(JSON.stringify(made)).toContain('block_compressor=zstd')
    const payments = stores.db.connection.collection('payments')
    await payments.dropIndex('payment_dirty')
    const lines: string[] = []
    await migrate(stores.db, (line) => lines.push(line))
    expect(lines).toEqual([
      expect.stringMatching(/^payments: building payment_dirty over about \d+ documents$/),
      expect.stringMatching(/^payments: built in /),
    ])
  })

  // Guards money: after a restore, which writes without it, the store again refuses a payment that no digest makes unique.
  it('sets a validator that is missing', async () => {
    await migrate(stores.db)
    const native = stores.db.connection.getClient().db(stores.db.name)
    await native.command({ collMod: PAYMENTS.name, validator: {} })
    await migrate(stores.db)
    const payment = { _id: 'p', key: 'test:ethereum:0x1:0' }
    await expect(native.collection<{ _id: string; key: string }>(PAYMENTS.name).insertOne(payment)).rejects.toThrow(
      'validation',
    )
  })

  it('brings back a dropped index and refuses one that lost its uniqueness', async () => {
    await migrate(stores.db)
    const invoices = stores.db.collection(INVOICES)
    await invoices.dropIndex('invoice_number')
    await expect(verifyIndexes(stores.db)).rejects.toThrow(/1 indexes \(invoices\.invoice_number\)/)
    await invoices.createIndex({ workspaceId: 1, mode: 1, number: 1 }, { name: 'invoice_number' })
    await expect(verifyIndexes(stores.db)).rejects.toThrow(/invoice_number/)
    await expect(migrate(stores.db)).rejects.toThrow(/invoice_number/)
    await invoices.dropIndex('invoice_number')
    expect((await migrate(stores.db)).indexesCreated).toEqual(['invoices.invoice_number'])
  })
})

describe('store clock', () => {
  it('follows the store', async () => {
    const clock = await createStoreClock(stores.db)
    expect(Math.abs(clock.driftMs)).toBeLessThan(2_000)
    const before = Date.now()
    const here = clock.now() + clock.driftMs
    // Each of the two rounds to milliseconds.
    expect(here).toBeGreaterThanOrEqual(before - 2)
    expect(here).toBeLessThanOrEqual(Date.now() + 2)
    clock.stop()
  })

  it('reports health', async () => {
    expect(await stores.db.isHealthy()).toBe(true)
  })
})
