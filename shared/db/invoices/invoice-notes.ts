import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { type InvoiceNotes, NOTES_MAX } from '#shared/ports/invoice-notes.ts'
import { INVOICES } from './invoice-model.ts'

/** Notes in the documents of their invoices. No change of an invoice's state writes this field. */
export function createInvoiceNotes(db: Database): InvoiceNotes {
  const invoices = db.collection(INVOICES)
  return {
    list: async (invoiceId) => {
      const stored = await invoices.findOne({ _id: invoiceId }, { projection: { notes: 1 } })
      return (stored?.notes ?? []).map((note) => ({ ...note, at: toMs(note.at) }))
    },
    add: ({ workspaceId, mode, invoiceId }, note, audit) =>
      audited(db, audit, async (session) => {
        const room = { [`notes.${NOTES_MAX - 1}`]: { $exists: false } }
        const added = await invoices.updateOne(
          { _id: invoiceId, workspaceId, mode, 'notes.opId': { $ne: note.opId }, ...room },
          { $push: { notes: { ...note, at: toDate(note.at) } } },
          { session },
        )
        return added.matchedCount === 1
      }),
  }
}
