import mongoose from 'mongoose'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailRepository, mailToDocument } from '#shared/db/mails/mail-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { migrate, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { sampleObservation, samplePaymentMethod } from '#test/support/db-samples.ts'
import { auditNamed, exceptionNamed, invoiceNamed, PAST } from './contract-samples.ts'
import type { Execute } from './execute.ts'
import { createMemoryStore, type MemoryStoreOptions } from './memory-store.ts'
import { openSimulatedDatabase } from './simulated-database.ts'
import type { DocumentChange } from './stored-collection.ts'

const mailRow = (id: string, to = 'a') =>
  mailToDocument({ id, workspaceId: 'w-1', template: 'endpoint_failing', to, data: {}, createdAt: PAST }) as never

const atOnce: Execute = async (_operation, run) => run()
const network = () => new mongoose.mongo.MongoNetworkError('connection 1 to 127.0.0.1:27017 closed')

function open(exec: Execute = atOnce, options: Partial<MemoryStoreOptions> = {}) {
  const store = createMemoryStore({ now: () => PAST, ...options })
  const db = openSimulatedDatabase(store, exec)
  return { store, db, invoices: createInvoiceRepository(db), exceptions: createExceptionRepository(db) }
}

const idsOf = (documents: readonly Readonly<Record<string, unknown>>[]) => documents.map((one) => one['_id'])

it('has every index of the product from the beginning', async () => {
  const { db } = open()
  expect(await migrate(db)).toMatchObject({ collectionsCreated: [], indexesCreated: [] })
  await verifyIndexes(db)
})

it('tells which command it runs, and how many steps it has', async () => {
  const seen: unknown[] = []
  const { db } = open(async (operation, run) => {
    seen.push(Object.values(operation))
    return run()
  })
  const rows = db.collection({ name: 'mails', schema: z.object({}), indexes: [] })
  await rows.bulkWrite([{ insertOne: { document: mailRow('m-1') } }, { deleteMany: { filter: {} } }])
  await rows.updateMany({}, { $set: { to: 'b' } })
  await rows.findOne({})
  expect(await db.isHealthy()).toBe(true)
  expect(seen).toEqual([
    ['write', 'mails', 'bulkWrite', 2, false],
    ['write', 'mails', 'updateMany', null, false],
    ['read', 'mails', 'findOne', 1, false],
    ['read', '', 'ping', 1],
  ])
})

// What a suspended primary shows: everything up to a moment, and nothing that came later.
it('shows what was there at a moment before, and is itself unchanged', async () => {
  let now = PAST
  const { db, store } = open(atOnce, { now: () => now })
  const rows = db.collection({ name: 'mails', schema: z.object({}), indexes: [] })
  await rows.insertOne(mailRow('m-1'))
  now += 1
  await rows.insertOne(mailRow('m-2'))
  await rows.updateMany({}, { $set: { to: 'b' } })
  const before = store.asOf(PAST, () => store.documents('mails').map((row) => [row['_id'], row['to']]))
  expect(before).toEqual([['m-1', 'a']])
  expect(idsOf(store.documents('mails'))).toEqual(['m-1', 'm-2'])
})

// Guarantee: whose money a transfer is, and that none came until a deadline, is never decided by the past.
it('reads the holder of a claim, and what is new at a deadline, behind the newest write', async () => {
  const { db, invoices, store } = open()
  const payments = createPaymentRepository(db, { uuid: () => 'row', bytes: (length) => new Uint8Array(length) })
  const paymentMethods = [samplePaymentMethod('a', PAST)]
  store.holdBack()
  await invoices.insert(invoiceNamed('i-1', { state: { paymentMethods } }))
  expect(await invoices.findByClaims(['test:evm:a'])).toMatchObject([{ invoiceId: 'i-1' }])
  await payments.recordObservations([sampleObservation('test:ethereum:a:0', { invoiceId: 'i-1' })], 1, PAST)
  const [stored = null] = store.documents('payments')
  store.collection('payments').put(stored, null)
  store.holdBack()
  store.collection('payments').put(null, stored)
  const read = (isFinal: boolean) => payments.listForFold('i-1', '1.1', { keys: [], isFinal })
  expect((await read(false)).payments).toEqual([])
  expect((await read(true)).payments).toMatchObject([{ key: 'test:ethereum:a:0' }])
})

it('applies a batch up to the step at which the server died', async () => {
  const { db, store } = open(async (operation, run) => {
    run((operation.steps ?? 3) - 1)
    throw network()
  })
  const rows = db.collection({ name: 'mails', schema: z.object({}), indexes: [] })
  const insert = ['m-1', 'm-2', 'm-3'].map((id) => ({ insertOne: { document: mailRow(id) } }))
  await expect(rows.bulkWrite(insert, { ordered: false })).rejects.toThrow('closed')
  expect(idsOf(store.documents('mails'))).toEqual(['m-1', 'm-2'])
  await expect(rows.insertMany([mailRow('m-4'), mailRow('m-5')])).rejects.toThrow('closed')
  expect(idsOf(store.documents('mails'))).toEqual(['m-1', 'm-2', 'm-4'])
  await expect(rows.updateMany({}, { $set: { sent: true } })).rejects.toThrow('closed')
  expect(store.documents('mails').map((one) => one['sent'])).toEqual([true, true, undefined])
  await expect(rows.deleteMany({})).rejects.toThrow('closed')
  expect(idsOf(store.documents('mails'))).toEqual(['m-4'])
})

it('keeps what was applied when only the answer was lost, and nothing when the command was', async () => {
  let isApplied = true
  const { invoices, store } = open(async (_operation, run) => {
    if (isApplied) run()
    throw network()
  })
  await expect(invoices.insert(invoiceNamed('i-1'))).rejects.toThrow('closed')
  isApplied = false
  await expect(invoices.insert(invoiceNamed('i-2', { number: 2 }))).rejects.toThrow('closed')
  expect(idsOf(store.documents('invoices'))).toEqual(['i-1'])
})

it('takes a command as it was when it was given, and hands out copies', async () => {
  let start = () => {}
  const waiting = new Promise<void>((resolve) => {
    start = resolve
  })
  const { db, store } = open(async (_operation, run) => {
    await waiting
    return run()
  })
  const rates = createRateRepository(db)
  const price = { price: '1', sources: ['one'], oldestAt: PAST }
  const inserted = rates.insert({
    at: PAST,
    guards: {},
    expected: {},
    sources: {},
    clockOffsetMs: null,
    usdPerSymbol: { BTC: price },
    fiatPerUsd: {},
  })
  price.price = '2'
  start()
  await inserted
  const answer = await rates.latest()
  expect(answer?.usdPerSymbol['BTC']?.price).toBe('1')
  Object.assign(answer?.usdPerSymbol['BTC'] ?? {}, { price: '3' })
  expect(store.documents('rate_snapshots')).toMatchObject([{ usdPerSymbol: { BTC: { price: '1' } } }])
})

// Guarantee: an action and its audit row are both stored or neither is, whatever happens to the connection.
it('commits a transaction whole, repeats it after a lost command, and its commit after a lost answer', async () => {
  const faults = ['updateOne', 'commitTransaction']
  const changes: DocumentChange[] = []
  const { store, exceptions } = open(
    async (operation, run) => {
      const result = run()
      const isHit = faults[0] === operation.name
      if (isHit) faults.shift()
      if (isHit) throw network()
      return result
    },
    { onChange: (change) => changes.push(change) },
  )
  await exceptions.open([exceptionNamed('x-1')])
  expect(await exceptions.closeAudited('x-1', PAST, PAST, auditNamed('a-1'))).toBe(true)
  expect(faults).toEqual([])
  expect(changes.map(({ collection, before }) => `${collection} ${before === null}`)).toEqual([
    'exceptions true',
    'exceptions false',
    'audit_log true',
  ])
  expect(store.documents('exceptions')).toMatchObject([{ _id: 'x-1', open: false }])
})

it('shows nothing of a transaction before its commit, and lets the later one of two run again', async () => {
  const order: string[] = []
  let other: (() => Promise<unknown>) | null = null
  const { db, store, exceptions } = open(async (operation, run) => {
    order.push(operation.name)
    if (operation.name === 'commitTransaction' && other !== null) {
      expect(store.documents('audit_log')).toEqual([])
      expect(store.documents('exceptions')).toMatchObject([{ open: true }])
      const start = other
      other = null
      await start()
    }
    return run()
  })
  const rows = db.collection({ name: 'exceptions', schema: z.object({}), indexes: [] })
  await exceptions.open([exceptionNamed('x-1')])
  other = () => rows.updateOne({ _id: 'x-1' as never }, { $set: { open: false } })
  // The other one closed it first: the transaction starts over, finds nothing to close and is aborted; then its audit row is looked for.
  expect(await exceptions.closeAudited('x-1', PAST + 2, PAST, auditNamed('a-1'))).toBe(false)
  const first = ['bulkWrite', 'updateOne', 'insertOne', 'commitTransaction', 'updateOne']
  expect(order).toEqual([...first, 'updateOne', 'findOne'])
  expect(store.documents('audit_log')).toEqual([])
})

it('leaves nothing of a transaction whose callback threw', async () => {
  const { db, store } = open()
  const session = db.connection.getClient().startSession()
  const rows = db.collection({ name: 'mails', schema: z.object({}), indexes: [] })
  const work = session.withTransaction(async () => {
    await rows.insertOne(mailRow('m-1'), { session })
    expect(await rows.findOne({ _id: 'm-1' as never }, { session })).toMatchObject({ _id: 'm-1' })
    throw new Error('changed its mind')
  })
  await expect(work).rejects.toThrow('changed its mind')
  expect(store.documents('mails')).toEqual([])
})

it('deletes what outlived its index, by its own clock', async () => {
  let now = PAST
  const { db, store } = open(atOnce, { now: () => now })
  const mails = createMailRepository(db)
  const mail = { template: 'endpoint_failing', to: 'owner@example.com', data: {} } as const
  await mails.insertMany([{ id: 'mail-1', workspaceId: 'w-1', ...mail, createdAt: PAST }])
  now += 90 * 86_400_000
  expect(store.expire()).toBe(0)
  now += 1
  expect(store.expire()).toBe(1)
  expect(store.documents('mails')).toEqual([])
})

it('has one digest for equal contents, whatever the way to them', async () => {
  const one = open()
  const two = open()
  await one.exceptions.open([exceptionNamed('x-1'), exceptionNamed('x-2')])
  await two.exceptions.open([exceptionNamed('x-2')])
  expect(one.store.digest()).not.toBe(two.store.digest())
  await two.exceptions.open([exceptionNamed('x-1')])
  expect(one.store.digest()).toBe(two.store.digest())
  await two.exceptions.close(['x-1'], PAST)
  expect(one.store.digest()).not.toBe(two.store.digest())
})

it('answers nobody after its process closed the connection', async () => {
  const { db, invoices } = open()
  await db.close()
  await expect(invoices.findById('i-1')).rejects.toThrow('closed')
  expect(await db.isHealthy()).toBe(false)
})

it('shows the past to readers while the majority lags, and goes by the newest for writes', async () => {
  const { db, store } = open()
  const rows = db.collection({ name: 'mails', schema: z.object({}), indexes: [] })
  await rows.insertOne(mailRow('m-1', 'a'))
  store.holdBack()
  await rows.updateOne({ _id: 'm-1' as never }, { $set: { to: 'b' } })
  await rows.insertOne(mailRow('m-2', 'c'))
  expect(await rows.find({}).toArray()).toMatchObject([{ _id: 'm-1', to: 'a' }])
  await expect(rows.insertOne(mailRow('m-2', 'd'))).rejects.toThrow('duplicate key')
  expect((await rows.updateOne({ to: 'b' }, { $set: { to: 'e' } })).matchedCount).toBe(1)
  expect(await rows.findOne({ _id: 'm-1' as never })).toMatchObject({ _id: 'm-1', to: 'a' })
  store.catchUp()
  expect(await rows.find({}).sort({ _id: 1 }).toArray()).toMatchObject([
    { _id: 'm-1', to: 'e' },
    { _id: 'm-2', to: 'c' },
  ])
})
