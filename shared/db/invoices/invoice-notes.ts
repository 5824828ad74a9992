import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { type InvoiceNote, NOTES_MAX } from '#shared/ports/invoice-notes.ts'
import { INVOICES } from './invoice-model.ts'

/** Notes in the documents of their invoices. No change of an invoice's state writes this field. */
export function createInvoiceNotes(db: Database) {
  const invoices = db.collection(INVOICES)
  return {
    /** Oldest first. */
    list: async (invoiceId: string): Promise<readonly InvoiceNote[]> => {
      const stored = await invoices.findOne({ _id: invoiceId }, { projection: { notes: 1 } })
      return (stored?.notes ?? []).map((note) => ({ ...note, at: toMs(note.at) }))
    },
    /** Adds a note together with its audit row; false when the operation already added it, or there are `NOTES_MAX`. */
    add: (
      {
        workspaceId,
        mode,
        invoiceId,
      }: { readonly workspaceId: string; readonly mode: Mode; readonly invoiceId: string },
      note: InvoiceNote,
      audit: AuditRecord,
    ): Promise<boolean> =>
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
