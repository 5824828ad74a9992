import type { EventDocument } from '#shared/db/events/event-model.ts'
import { invoiceFromDocument } from '#shared/db/invoices/invoice-mapping.ts'
import type { InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { paymentFromDocument } from '#shared/db/payments/payment-mapping.ts'
import type { PaymentDocument } from '#shared/db/payments/payment-model.ts'
import type { CursorDocument } from '#shared/db/scanning/cursor-model.ts'
import { eventId } from '#shared/domain/ids.ts'
import { checkRecords } from '#shared/usecases/reconciliation/reconcile.ts'
import type { Invariant } from '#shared/usecases/reconciliation/violation.ts'
import { must } from '../kernel/violation.ts'
import type { Sim } from '../world/sim.ts'

const GUARANTEES: Readonly<Record<Invariant, string>> = {
  one_key: 'S1',
  credited_once: 'S2',
  sums: 'S3',
  status: 'S4',
  paid_in_full: 'S5',
  events: 'S9',
}

/**
 * S1–S5, S9 as the checker of production data checks them: it finds what the simulation's own eyes find, and it must call nothing
 * wrong that is right, whatever the faults of a seed were.
 */
export function reconcile(sim: Sim): void {
  const { store } = sim
  const payments = store.documents('payments') as unknown as readonly PaymentDocument[]
  const events = store.documents('events') as unknown as readonly EventDocument[]
  const cursors = store.documents('chain_cursors') as unknown as readonly CursorDocument[]
  const documents = store.documents('invoices') as unknown as readonly InvoiceDocument[]
  const elsewhere = new Set(
    [...store.documents('audit_log'), ...store.documents('mails')].map(({ _id }) => String(_id)),
  )
  const inbox = store
    .documents('exceptions')
    .filter(({ kind }) => kind !== 'outbox_blocked' && kind !== 'invoice_blocked')
  for (const document of documents) {
    const { _id: id, eventSeq, idem } = document
    const numbers = Array.from({ length: eventSeq }, (_, index) => index + 1)
    const subjects = new Set([id, ...document.ledger.map(({ payment }) => payment)])
    const entryOf = (seq: number): string => eventId(id, seq)
    const sharesKey = (other: InvoiceDocument): boolean =>
      other._id !== id &&
      other.workspaceId === document.workspaceId &&
      other.mode === document.mode &&
      other.idem?.key === idem?.key
    const violations = checkRecords(
      {
        invoice: invoiceFromDocument(document),
        keySharedWith: idem === undefined ? [] : documents.filter(sharesKey).map(({ _id }) => _id),
        payments: payments.filter(({ invoiceId }) => invoiceId === id).map(paymentFromDocument),
        events: events
          .filter(({ invoiceId }) => invoiceId === id)
          .map(({ _id, seq, type, workspaceId, mode }) => ({ id: _id, seq, type, workspaceId, mode })),
        eventsComplete: true,
        seqsElsewhere: numbers.filter((seq) => elsewhere.has(entryOf(seq)) || elsewhere.has(`mail:${entryOf(seq)}`)),
        inboxEntries: inbox.filter(({ _id, kind }) => subjects.has(String(_id).slice(`${kind}:`.length))).length,
      },
      cursors,
    )
    const [first] = violations
    must(
      first === undefined,
      GUARANTEES[first?.invariant ?? 'status'],
      () => `invoice ${id}: ${first?.words} (${first?.paymentKey ?? 'as a whole'})`,
    )
  }
}
