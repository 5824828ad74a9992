import mongoose from 'mongoose'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { isOfCustomer } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { IDEMPOTENCY_KEYS } from '#shared/db/requests/idempotency-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { StoredAnswer } from '#shared/ports/stored-answer.ts'

const NOBODY = { email: null, name: null } as const

/** Erases customers on MongoDB. Invoice changes never write these fields, so the data cannot come back. */
export function createCustomerEraser(db: Database) {
  const invoices = db.collection(INVOICES)
  const events = db.collection(EVENTS)
  const answers = db.collection(IDEMPOTENCY_KEYS)
  const exceptions = db.collection(EXCEPTIONS)
  return {
    /**
     * Empties both fields of the invoice and the texts of its notes and of those on its exceptions, and sets when copies are to be searched again, together with the audit row; false when
     * there is nothing to erase.
     */
    eraseInvoice: (
      {
        workspaceId,
        mode,
        invoiceId,
      }: { readonly workspaceId: string; readonly mode: Mode; readonly invoiceId: string },
      sweepAt: Ms,
      audit: AuditRecord,
    ): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const own = { _id: invoiceId, workspaceId, mode }
        const stored = await invoices.findOne(own, {
          projection: { customer: 1, searchWords: 1, notes: 1, ledger: 1 },
          session,
        })
        if (stored === null) return false
        const { customer, searchWords, notes = [], ledger } = stored
        const isNamed = customer.email !== null || customer.name !== null
        // An exception about money that an operator applied to the invoice names the transfer only.
        const keys = ledger.map(({ payment }) => payment)
        const about = {
          $or: [
            { invoiceId: { $eq: invoiceId, $type: 'string' as const } },
            { paymentKey: { $in: keys, $type: 'string' as const } },
          ],
          ...{ workspaceId, 'notes.text': { $type: 'string' as const } },
        }
        const { modifiedCount } = await exceptions.updateMany(about, { $set: { 'notes.$[].text': null } }, { session })
        if (!isNamed && notes.every(({ text }) => text === null) && modifiedCount === 0) return false
        const fields = {
          customer: NOBODY,
          searchWords: searchWords.filter((word) => !isOfCustomer(word)),
          eraseSweepAt: toDate(sweepAt),
          ...(notes.length > 0 && { notes: notes.map((note) => ({ ...note, text: null })) }),
        }
        const change = { $set: fields, $unset: { customerKey: '' as const } }
        return (await invoices.updateOne(own, change, { session })).matchedCount === 1
      }),
    /** Empties the customer in the bodies of the invoice's events that were made before a time. Repeating it changes nothing. */
    eraseEvents: async (invoiceId: string, madeBefore: Ms): Promise<void> => {
      const found = events.find({ invoiceId, createdAt: { $lt: toDate(madeBefore) } })
      for await (const { _id, body } of found) {
        const bytes = body instanceof mongoose.mongo.Binary ? body.value() : body
        const erased = withoutCustomer(Buffer.from(bytes).toString('utf8'))
        if (erased === null) continue
        await events.updateOne({ _id }, { $set: { body: new mongoose.mongo.Binary(Buffer.from(erased, 'utf8')) } })
      }
    },
    /** Responses about this invoice that idempotency keys would repeat. */
    storedAnswers: async ({
      workspaceId,
      mode,
      invoiceId,
    }: {
      readonly workspaceId: string
      readonly mode: Mode
      readonly invoiceId: string
    }): Promise<readonly StoredAnswer[]> => {
      // Ids of operations contain the path and begin with the workspace: ranges of the primary key.
      const paths = [`/invoices/${invoiceId}/`, `/test/invoices/${invoiceId}/`]
      const ranges = paths.map((path) => `${workspaceId}:${mode}:POST:${path}`)
      const found = await answers
        .find({ $or: ranges.map((range) => ({ _id: { $gte: range, $lt: `${range}\uffff` } })) })
        .toArray()
      return found.flatMap(({ _id, response }) => (response === null ? [] : [{ scope: _id, body: response.body }]))
    },
    /** Replaces the body of a response that is unchanged. */
    replaceAnswer: async ({ scope, body }: StoredAnswer, next: string): Promise<void> => {
      await answers.updateOne({ _id: scope, 'response.body': body }, { $set: { 'response.body': next } })
    },
    /** Invoices whose copies are due to be searched. */
    dueSweeps: async (until: Ms, limit: number): Promise<readonly string[]> => {
      const due = { eraseSweepAt: { $lte: toDate(until) } }
      const found = await invoices
        .find(due, { projection: { _id: 1 }, hint: 'invoice_erase_sweep' })
        .sort({ eraseSweepAt: 1 })
        .limit(limit)
        .toArray()
      return found.map(({ _id }) => _id)
    },
    /** Ends the search that was due at a time; one that a later request made due afterwards stays. */
    endSweep: async (invoiceId: string, until: Ms): Promise<void> => {
      await invoices.updateOne(
        { _id: invoiceId, eraseSweepAt: { $lte: toDate(until) } },
        { $unset: { eraseSweepAt: '' } },
      )
    },
  }
}

/** The type of what {@link createCustomerEraser} returns. */
export type CustomerEraser = ReturnType<typeof createCustomerEraser>

/** The body of an event with an empty customer; null when it contains none. */
function withoutCustomer(body: string): string | null {
  const event = JSON.parse(body) as { data?: { object?: { customer?: { email: unknown; name: unknown } } } }
  const customer = event.data?.object?.customer
  if (customer === undefined || (customer.email === null && customer.name === null)) return null
  customer.email = null
  customer.name = null
  return JSON.stringify(event)
}
