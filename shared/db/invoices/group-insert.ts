import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { NewInvoice } from '#shared/ports/invoices.ts'
import { invoiceToDocument } from './invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from './invoice-model.ts'
import type { InvoiceRepository } from './invoice-repository.ts'

type Insert = InvoiceRepository['insert']
type Outcome = Awaited<ReturnType<Insert>>

/** Most invoices in one command. */
const BATCH_MAX = 64
/** Concurrent commands; more of them would only make the groups smaller. */
const IN_FLIGHT_MAX = 2

interface Waiting {
  readonly invoice: NewInvoice
  readonly document: InvoiceDocument
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Concurrent inserts of one process are sent as one unordered insert command: each document is still
 * inserted or refused individually and acknowledged under the same concerns, for a fraction of the cost. A lone insert
 * waits only for its own turn of the event loop. A document that a unique index refused is retried alone by `insertOne`, which names the index.
 */
export function createGroupedInsert(db: Database, insertOne: Insert): Insert {
  const invoices = db.collection(INVOICES)
  const waiting: Waiting[] = []
  let inFlight = 0
  let scheduled = false

  async function send(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1) return alone(batch)
    try {
      await invoices.insertMany(
        batch.map(({ document }) => document),
        { ordered: false },
      )
      for (const { resolve } of batch) resolve({ inserted: true })
    } catch (error) {
      const refused = bulkDuplicates(error)
      if (refused !== null) {
        for (const [index, { resolve }] of batch.entries()) if (!refused.includes(index)) resolve({ inserted: true })
        return alone(batch.filter((_, index) => refused.includes(index)))
      }
      // The driver refused to send the command: the others must not suffer from one bad document.
      if (!(error instanceof mongoose.mongo.MongoError)) return alone(batch, asOurs)
      for (const { reject } of batch) reject(error)
    }
  }

  async function alone(batch: readonly Waiting[], read = (outcome: Outcome) => outcome): Promise<void> {
    await Promise.all(
      batch.map(({ invoice, resolve, reject }) => insertOne(invoice).then((outcome) => resolve(read(outcome)), reject)),
    )
  }

  async function drain(): Promise<void> {
    scheduled = false
    inFlight += 1
    while (waiting.length > 0) await send(waiting.splice(0, BATCH_MAX))
    inFlight -= 1
  }

  return (invoice) =>
    new Promise((resolve, reject) => {
      waiting.push({ invoice, document: invoiceToDocument(invoice), resolve, reject })
      if (scheduled || inFlight >= IN_FLIGHT_MAX) return
      // At the end of this turn of the event loop all concurrent callers are included.
      scheduled = true
      setImmediate(drain)
    })
}

/** An id that is taken right after a failure was inserted by the failed command: ids are random. */
function asOurs(outcome: Outcome): Outcome {
  return !outcome.inserted && outcome.conflict === 'id' ? { inserted: true } : outcome
}
