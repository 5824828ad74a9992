import type mongoose from 'mongoose'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { type Facts, factsOf, isPaid } from '#test/growth/facts.ts'
import { addressAt, invoiceAt, paymentAt } from '#test/growth/seed-money.ts'
import { deliveriesAt, eventsAt } from '#test/growth/seed-records.ts'
import { pause } from './child.ts'

/** Changes per second at most: those of some ten invoices. */
const CHANGES_PER_SECOND = 200
/** Documents of each kind that are changed again and again. */
const SAMPLE = 2_000
/** Every so many turns a whole invoice is added. */
const NEW_EVERY = 10
/** New invoices are numbered after the seeded ones; this is how many times as many the numbering allows for. */
const ROOM = 10

/** A writer that runs beside a back-up. */
export interface BenchWriter {
  /** Ends the writing; returns how many documents were written. */
  stop(): Promise<{ readonly changes: number }>
}

/**
 * Changes invoices and payments all over their collections, and adds whole invoices with payment, address, events and deliveries, each in one
 * transaction: a copy that has one of them in part does not reconcile.
 */
export function startWriter(db: Database, seeded: number): BenchWriter {
  let isDone = false
  let changes = 0
  const work = (async () => {
    const sampled = [{ $sample: { size: SAMPLE } }, { $project: { _id: 1 } }]
    const invoices = await db.collection(INVOICES).aggregate<{ _id: string }>(sampled).toArray()
    const payments = await db.collection(PAYMENTS).aggregate<{ _id: string }>(sampled).toArray()
    const names = factsOf(seeded * ROOM, Date.now())
    // The newest of them that are over: none is past its life.
    let index = Math.floor(seeded * ROOM * 0.99)
    for (let turn = 0; !isDone; turn += 1) {
      const before = changes
      const [invoice, payment] = [invoices[turn % invoices.length], payments[turn % payments.length]]
      if (invoice !== undefined) {
        changes += 1
        await db.collection(INVOICES).updateOne({ _id: invoice._id }, { $inc: { version: 1 } })
      }
      if (payment !== undefined) {
        changes += 1
        await db.collection(PAYMENTS).updateOne({ _id: payment._id }, { $set: { updatedAt: new Date() } })
      }
      if (turn % NEW_EVERY === 0) {
        changes += await addInvoice(db, names, index)
        index += 1
      }
      await pause((1_000 * (changes - before)) / CHANGES_PER_SECOND)
    }
  })()
  return {
    stop: async () => {
      isDone = true
      await work
      return { changes }
    },
  }
}

/** Returns the number of documents. */
async function addInvoice(db: Database, facts: Facts, index: number): Promise<number> {
  const session = db.connection.getClient().startSession()
  const rows: [CollectionModel<{ _id: string }>, readonly { readonly _id: string }[]][] = [
    [INVOICES, [invoiceAt(facts, index)]],
    [PAYMENTS, isPaid(index) ? [paymentAt(facts, index)] : []],
    [ADDRESSES, [addressAt(facts, index)]],
    [EVENTS, eventsAt(facts, index)],
    [WEBHOOK_DELIVERIES, deliveriesAt(facts, index)],
  ] as unknown as [CollectionModel<{ _id: string }>, readonly { readonly _id: string }[]][]
  try {
    await session.withTransaction(async () => {
      for (const [model, documents] of rows) {
        if (documents.length === 0) continue
        const many = documents as mongoose.mongo.OptionalUnlessRequiredId<{ _id: string }>[]
        await db.collection(model).insertMany(many, { session })
      }
    })
    return rows.reduce((sum, [, documents]) => sum + documents.length, 0)
  } finally {
    await session.endSession()
  }
}
