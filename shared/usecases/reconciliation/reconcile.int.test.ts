import type mongoose from 'mongoose'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import {
  createReconciliationRepository,
  type ReconciliationRepository,
} from '#shared/db/reconciliation/reconciliation-repository.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { deepTest, oneOfEach, sampleOf } from '#test/support/depth.ts'
import { openReconciliationStage, STAGE_STATUSES, type StageName } from '#test/support/reconciliation-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { continueReconciliation, reconcile } from './reconcile.ts'
import type { Violation } from './violation.ts'

const HOUR_MS = 3_600_000
const stores = useStores()
let stage: Awaited<ReturnType<typeof openReconciliationStage>>
let pauses = 0
beforeAll(async () => {
  stage = await openReconciliationStage(stores)
})

const invoices = () => stores.db.collection(INVOICES)
const depsOn = (reconciliation: ReconciliationRepository) => ({
  reconciliation,
  cursors: stage.engine.deps.cursors,
  clock: stage.engine.deps.clock,
  pause: async () => {
    pauses += 1
  },
})
const named = (violations: readonly Violation[]): readonly string[] =>
  violations.map(({ invoiceId, invariant }) => `${stage.nameOf(invoiceId)} ${invariant}`)

async function check(
  reconciliation: ReconciliationRepository = createReconciliationRepository(stores.db),
  since: number | null = null,
) {
  const { evaluated, violations } = await reconcile(depsOn(reconciliation), { since, onProgress: () => undefined })
  return { evaluated, wrong: named(violations) }
}

async function documentOf(name: StageName): Promise<InvoiceDocument> {
  const found = await invoices().findOne({ _id: stage.idOf(name) })
  if (found === null) throw new Error(`${name} is not stored`)
  return found
}

/** What tests change, as it was. */
async function keep(): Promise<() => Promise<void>> {
  const kept = await Promise.all(
    [INVOICES, PAYMENTS, EVENTS].map(async (model) => {
      const collection = stores.db.collection(model as CollectionModel<mongoose.mongo.Document>)
      return { collection, rows: await collection.find().toArray() }
    }),
  )
  return async () => {
    for (const { collection, rows } of kept) {
      await collection.deleteMany({})
      await collection.insertMany(rows)
    }
  }
}
let restore: () => Promise<void>
beforeEach(async () => {
  restore = await keep()
  pauses = 0
})
afterEach(() => restore())

// Guards trust: an alarm that rings for what is right is switched off.
it('finds nothing wrong with invoices in every state', async () => {
  const names = Object.keys(STAGE_STATUSES) as StageName[]
  const statuses = await Promise.all(names.map(async (name) => [name, (await documentOf(name)).status]))
  expect(Object.fromEntries(statuses)).toEqual(STAGE_STATUSES)
  expect(await check()).toEqual({ evaluated: stage.count, wrong: [] })
  expect(pauses).toBe(0)
})

// Guarantee: an invoice is checked whatever the clock of the machine that made it said.
it('checks an invoice whose id carries a time two hours ahead', async () => {
  const { _id, ...stored } = await documentOf('partial')
  const ahead = uuidLowerBound(stage.engine.deps.clock.now() + 2 * 3_600_000)
  const { idem: _idem, claims: _claims, ...document } = stored
  await invoices().insertOne({ ...document, _id: ahead, number: 1_000_000, ledger: [] })
  const { wrong } = await check()
  expect(wrong.some((line) => line.startsWith(ahead))).toBe(true)
})

it('says how many invoices it did not check because they changed during each look', async () => {
  const records = createReconciliationRepository(stores.db)
  const moving = stage.idOf('partial')
  const reading: ReconciliationRepository = {
    ...records,
    read: async (ids, now) => (await records.read(ids, now)).filter(({ invoice }) => invoice.terms.id !== moving),
  }
  const report = await reconcile(depsOn(reading), { since: null, onProgress: () => undefined })
  expect(report).toMatchObject({ evaluated: stage.count - 1, notChecked: 1, violations: [] })
})

it('finds nothing wrong before the outbox was relayed', async () => {
  await stage.engine.open()
  expect((await check()).wrong).toEqual([])
})

type Corruption = readonly [wrong: string, what: string, corrupt: () => Promise<unknown>]
const onInvoice = (name: StageName, update: mongoose.mongo.UpdateFilter<InvoiceDocument>) => () =>
  invoices().updateOne({ _id: stage.idOf(name) }, update)
const onPayment = (name: StageName, change: object) => () =>
  stores.db.collection(PAYMENTS).updateOne({ invoiceId: stage.idOf(name) }, { $set: change })

const CORRUPTIONS: readonly Corruption[] = [
  [
    'paid credited_once',
    'a payment belongs to another invoice',
    async () => {
      const { ledger } = await documentOf('parts')
      await invoices().updateOne({ _id: stage.idOf('paid') }, { $push: { ledger: { $each: ledger.slice(0, 1) } } })
    },
  ],
  ['paid sums', 'a payment has another amount', onPayment('paid', { amountBase: '24999999' })],
  ['dusty sums', 'the sum of dust is another', onInvoice('dusty', { $set: { 'others.seenBase': '2000' } })],
  [
    'partial status',
    'it owes less than it got',
    onInvoice('partial', { $set: { 'paymentMethods.0.quotes.0.amountBase': '1' } }),
  ],
  ['waiting status', 'its clock was stopped', onInvoice('waiting', { $unset: { nextActionAt: '' } })],
  [
    'paid paid_in_full',
    'it owes more than it got',
    onInvoice('paid', { $set: { 'paymentMethods.0.quotes.0.amountBase': '50000000' } }),
  ],
  ['reorganised paid_in_full', 'a loss was hushed up', onInvoice('reorganised', { $set: { exceptions: [] } })],
  [
    'parts paid_in_full',
    'its block is the newest',
    async () => {
      const { headHeight = 0 } = (await stage.engine.deps.cursors.find('test', 'ethereum')) ?? {}
      await onPayment('parts', { 'block.height': headHeight })()
    },
  ],
  [
    'overpaid events',
    'an event is gone',
    () => stores.db.collection(EVENTS).deleteOne({ invoiceId: stage.idOf('overpaid'), type: 'invoice.overpaid' }),
  ],
  [
    'paid events',
    'an event was made up',
    async () => {
      const [event] = await stores.db
        .collection(EVENTS)
        .find({ invoiceId: stage.idOf('paid') })
        .sort({ seq: -1 })
        .toArray()
      if (event !== undefined)
        await stores.db.collection(EVENTS).insertOne({ ...event, _id: `${event._id}x`, seq: event.seq + 1 })
    },
  ],
  ['cancelled events', 'a number was skipped', onInvoice('cancelled', { $inc: { eventSeq: 1 } })],
]

// Guards money: what nobody is told of is seen within the hour, as what it is, and nothing else is blamed.
describe('wrong books', () => {
  it.each(
    sampleOf(
      oneOfEach(CORRUPTIONS, ([rule]) => rule),
      2,
    ),
  )('%s: %s', async (wrong, _what, corrupt) => {
    await corrupt()
    expect(await check()).toEqual({ evaluated: stage.count, wrong: [wrong] })
    expect(pauses).toBe(2)
  })

  it('one_key: two invoices of one key, once the unique index is gone', async () => {
    const index = INVOICES.indexes.find(({ name }) => name === 'invoice_idempotency_key')
    await invoices().dropIndex('invoice_idempotency_key')
    const idem = { key: 'order-7', fingerprint: 'f', requestId: 'req_1', at: new Date() }
    await invoices().updateMany({ _id: { $in: [stage.idOf('paid'), stage.idOf('waiting')] } }, { $set: { idem } })
    expect((await check()).wrong).toEqual(['paid one_key', 'waiting one_key'])
    await restore()
    await invoices().createIndex(index?.key ?? {}, { ...index, key: undefined } as object)
  })
})

// Guarantee: a document that changes while it is checked is not called wrong.
describe('races', () => {
  it('an invoice that changed between two reads is left to its change', async () => {
    await onPayment('paid', { amountBase: '1' })()
    const racing: Database = {
      ...stores.db,
      collection: ((model: CollectionModel<InvoiceDocument>) => {
        const collection = stores.db.collection(model)
        if (model.name !== PAYMENTS.name) return collection
        const find = (filter: object) => ({
          toArray: async () => {
            await onInvoice('paid', { $inc: { version: 1 } })()
            return await collection.find(filter).toArray()
          },
        })
        return { find }
      }) as unknown as Database['collection'],
    }
    expect(await check(createReconciliationRepository(racing))).toEqual({ evaluated: stage.count - 1, wrong: [] })
    expect((await check()).wrong).toEqual(['paid sums'])
  })

  it('what was seen half is looked at again', async () => {
    const records = createReconciliationRepository(stores.db)
    let reads = 0
    const halfSeen: ReconciliationRepository = {
      ...records,
      read: async (ids, now) => {
        reads += 1
        return (await records.read(ids, now)).map((one) => (reads === 1 ? { ...one, payments: [] } : one))
      },
    }
    expect((await check(halfSeen)).wrong).toEqual([])
    expect([reads, pauses]).toEqual([2, 1])
  })
})

describe('rounds', () => {
  beforeEach(() => stores.db.collection(INSTALLATION).deleteMany({ _id: 'books-progress' }))

  async function round(shouldStop = () => false, wrongMax = 1_000) {
    const metrics = createMetrics({ defaults: false })
    const lines: string[] = []
    const logger = createLogger({ name: 'test', level: 'info', destination: { write: (line) => lines.push(line) } })
    const deps = { ...depsOn(createReconciliationRepository(stores.db)), metrics, logger }
    const report = await continueReconciliation(deps, shouldStop, wrongMax)
    const wrong = report === null ? null : named(report.violations)
    return { evaluated: report?.evaluated ?? null, wrong, lines, figures: await metrics.render() }
  }
  const changeLate = (name: StageName, at: number) => onInvoice(name, { $set: { updatedAt: new Date(at) } })()

  it('checks everything once, then nothing for an hour, then what changed', async () => {
    expect(await round()).toMatchObject({ evaluated: stage.count, wrong: [] })
    expect(await round()).toMatchObject({ evaluated: null, wrong: null })
    await changeLate('late', stage.engine.deps.clock.now())
    stage.engine.advance(HOUR_MS)
    expect(await round()).toMatchObject({ evaluated: 1, wrong: [] })
    stage.engine.advance(HOUR_MS)
    expect(await round()).toMatchObject({ evaluated: 0, wrong: [] })
  })

  it('counts and logs a violation each hour while it lasts', async () => {
    await onPayment('paid', { amountBase: '1' })()
    for (const evaluated of [stage.count, 1]) {
      const { lines, figures, ...found } = await round()
      expect(found).toEqual({ evaluated, wrong: ['paid sums'] })
      expect(figures).toContain('paymesh_invariant_violation_total{invariant="sums"} 1')
      const [line = ''] = lines
      expect(JSON.parse(line)).toMatchObject({
        invariant: 'sums',
        invoiceId: stage.idOf('paid'),
        msg: expect.any(String),
      })
      expect(lines).toHaveLength(1)
      stage.engine.advance(HOUR_MS)
    }
    await restore()
    expect(await round()).toMatchObject({ evaluated: 1, wrong: [] })
    stage.engine.advance(HOUR_MS)
    expect(await round()).toMatchObject({ evaluated: 0, wrong: [] })
  })

  // Guards trust: "nothing is wrong" is never said of invoices that were wrong and fell off a list.
  it('waits before the invoice whose violation it could not check again, until there is room', async () => {
    const paid = await stores.db.collection(PAYMENTS).findOne({ invoiceId: stage.idOf('paid') })
    await onPayment('paid', { amountBase: '1' })()
    expect(await round(undefined, 1)).toMatchObject({ evaluated: stage.count, wrong: ['paid sums'] })
    const at = new Date(stage.engine.deps.clock.now())
    await onInvoice('partial', { $set: { 'paymentMethods.0.quotes.0.amountBase': '1', updatedAt: at } })()
    stage.engine.advance(HOUR_MS)
    const full = await round(undefined, 1)
    expect(full).toMatchObject({ evaluated: 1, wrong: ['paid sums'] })
    expect(full.lines.join()).toContain('so many invoices are inconsistent')
    await onPayment('paid', { amountBase: paid?.amountBase ?? '' })()
    stage.engine.advance(HOUR_MS)
    expect((await round(undefined, 1)).wrong).toEqual(['partial status'])
  })

  deepTest('goes on where it was cut', async () => {
    const ids = Array.from({ length: 250 }, () => stores.runtime.random.uuid())
    const sample = await documentOf('cancelled')
    await invoices().insertMany(ids.map((id, index) => ({ ...sample, _id: id, number: 1_000 + index })))
    const parts = [await round(() => true), await round(() => true), await round(() => true), await round()]
    expect(parts.map(({ evaluated }) => evaluated)).toEqual([100, 100, stage.count + 50, 0])
  })

  it('leaves what is younger than ten minutes to the next round', async () => {
    await round()
    await changeLate('late', stage.engine.deps.clock.now() + HOUR_MS - 60_000)
    stage.engine.advance(HOUR_MS)
    expect(await round()).toMatchObject({ evaluated: 0 })
    stage.engine.advance(HOUR_MS)
    expect(await round()).toMatchObject({ evaluated: 1 })
  })
})
