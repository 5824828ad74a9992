import { z } from 'zod'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { ID_TIME_SLACK_MS, uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { EVENT_LIFE_S, EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { jsonFact } from '#shared/db/installation/facts.ts'
import { invoiceFromDocument } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { paymentFromDocument } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { EXCEPTION_KINDS } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type {
  ChangeMark,
  InvoiceRecords,
  PublishedEvent,
  ReconciliationProgress,
} from '#shared/ports/reconciliation.ts'

/** Name of the fact that holds the progress of reconciliation. */
export const RECONCILIATION_FACT = 'books-progress'
/** The store removes events a little before or after the end of their life; a day is more than the deviation. */
const EVENTS_COMPLETE_MS = (EVENT_LIFE_S - 86_400) * 1_000
/** Kinds that invoices open themselves. */
const INBOX_KINDS = EXCEPTION_KINDS.filter((kind) => kind !== 'outbox_blocked' && kind !== 'invoice_blocked')

const PROGRESS = jsonFact(RECONCILIATION_FACT, z.custom<ReconciliationProgress>())

/** Reconciliation reads on MongoDB. All reads use majority, in an order in which derived documents are read after their source. */
export function createReconciliationRepository(db: Database) {
  const invoices = db.collection(INVOICES)
  return {
    /** Null before the first round. */
    progress: (): Promise<ReconciliationProgress | null> => PROGRESS.read(db),
    saveProgress: (progress: ReconciliationProgress): Promise<void> => PROGRESS.write(db, progress),
    /** An id below those of all invoices created then or later. */
    idAt: (at: Ms): string => uuidLowerBound(at - ID_TIME_SLACK_MS),
    /** The lowest id that carries this time. */
    firstIdAt: uuidLowerBound,
    /** Ids after `after` in the order of creation, of invoices whose ids carry a time before `until`; null = all. */
    created: async (after: string, until: Ms | null, limit: number): Promise<readonly string[]> => {
      const found = await invoices
        .find(
          { _id: { $gt: after, ...(until !== null && { $lt: uuidLowerBound(until) }) } },
          { projection: { _id: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray()
      return found.map(({ _id }) => _id)
    },
    /** Marks after `after` of invoices that changed since their creation, before `until`, oldest change first. */
    changed: async (after: ChangeMark, until: Ms, limit: number): Promise<readonly ChangeMark[]> => {
      const found = await invoices
        .find(changedFilter(after, until), { projection: { updatedAt: 1 } })
        .sort({ updatedAt: 1, _id: 1 })
        .limit(limit)
        .toArray()
      return found.map(({ _id, updatedAt }) => ({ at: toMs(updatedAt), invoiceId: _id }))
    },
    /**
     * Reads invoices first and their derived records afterwards, so that a record missing then never existed. Invoices that changed
     * while they were read are left out, because their records are of two moments.
     */
    read: (ids: readonly string[], now: Ms): Promise<readonly InvoiceRecords[]> => read(db, ids, now),
  }
}

/** The type of what {@link createReconciliationRepository} returns. */
export type ReconciliationRepository = ReturnType<typeof createReconciliationRepository>

/** The filter of `changed`; exported for the test that explains it. */
export function changedFilter({ at, invoiceId }: ChangeMark, until: Ms) {
  const before = toDate(until)
  return {
    version: { $gt: 1 },
    $or: [{ updatedAt: { $gt: toDate(at), $lt: before } }, { updatedAt: toDate(at), _id: { $gt: invoiceId } }],
  }
}

async function read(db: Database, ids: readonly string[], now: Ms): Promise<readonly InvoiceRecords[]> {
  const wanted = { _id: { $in: [...ids] } }
  const found = await db.collection(INVOICES).find(wanted).toArray()
  const [payments, events, keys] = await Promise.all([
    db
      .collection(PAYMENTS)
      .find({ invoiceId: { $in: [...ids] } })
      .toArray(),
    db
      .collection(EVENTS)
      .find({ invoiceId: { $in: [...ids] } }, { projection: { body: 0 } })
      .toArray(),
    sameKeys(db, found),
  ])
  const eventsOf = groupBy(events, ({ invoiceId }) => invoiceId ?? '')
  const paymentsOf = groupBy(payments, ({ invoiceId }) => invoiceId ?? '')
  const records = await Promise.all(
    found.map(async (document): Promise<InvoiceRecords> => {
      const published = (eventsOf.get(document._id) ?? []).map(({ _id: id, seq, type, workspaceId, mode }) => {
        return { id, seq, type, workspaceId, mode }
      })
      const key = keyOf(document)
      const eventsComplete = toMs(document.createdAt) > now - EVENTS_COMPLETE_MS
      return {
        invoice: invoiceFromDocument(document),
        keySharedWith: key === null ? [] : (keys.get(key) ?? []).filter((id) => id !== document._id),
        payments: (paymentsOf.get(document._id) ?? []).map(paymentFromDocument),
        events: published,
        eventsComplete,
        // Of an invoice whose events are past their life every number is missing, and none is looked for.
        ...(eventsComplete ? await readElsewhere(db, document, published) : NOWHERE),
      }
    }),
  )
  const versions = await db
    .collection(INVOICES)
    .find(wanted, { projection: { version: 1 } })
    .toArray()
  const versionOf = new Map(versions.map(({ _id, version }) => [_id, version]))
  return records.filter(({ invoice }) => versionOf.get(invoice.terms.id) === invoice.state.version)
}

const keyOf = ({ workspaceId, mode, idem }: InvoiceDocument): string | null =>
  idem === undefined ? null : `${workspaceId} ${mode} ${idem.key}`

/** Ids of all invoices that carry one of these keys, by key. */
async function sameKeys(
  db: Database,
  found: readonly InvoiceDocument[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const keyed = found.flatMap(({ workspaceId, mode, idem }) =>
    idem === undefined ? [] : [{ workspaceId, mode, 'idem.key': idem.key }],
  )
  if (keyed.length === 0) return new Map()
  const holders = await db.collection(INVOICES).find({ $or: keyed }).toArray()
  const byKey = groupBy(holders, (holder) => keyOf(holder) ?? '')
  return new Map([...byKey].map(([key, rows]) => [key, rows.map(({ _id }) => _id)]))
}

function groupBy<T>(rows: readonly T[], keyOfRow: (row: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const key = keyOfRow(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

type OtherRecords = Pick<InvoiceRecords, 'seqsElsewhere' | 'inboxEntries'>
const NOWHERE: OtherRecords = { seqsElsewhere: [], inboxEntries: 0 }

/** Sequence numbers that belong to no event. Most invoices have none, and need no query. */
async function readElsewhere(
  db: Database,
  { _id: invoiceId, eventSeq, outbox, ledger }: InvoiceDocument,
  events: readonly PublishedEvent[],
): Promise<OtherRecords> {
  const published = new Set([...events, ...outbox].map(({ seq }) => seq))
  const missing = Array.from({ length: eventSeq }, (_, index) => index + 1).filter((seq) => !published.has(seq))
  if (missing.length === 0) return NOWHERE
  const seqOf = new Map(missing.map((seq) => [eventId(invoiceId, seq), seq]))
  const subjects = [invoiceId, ...ledger.map(({ payment }) => payment)]
  const entries = subjects.flatMap((subject) => INBOX_KINDS.map((kind) => `${kind}:${subject}`))
  const onlyId = { projection: { _id: 1 } }
  const [audits, mails, inbox] = await Promise.all([
    db
      .collection(AUDIT_LOG)
      .find({ _id: { $in: [...seqOf.keys()] } }, onlyId)
      .toArray(),
    db
      .collection(MAILS)
      .find({ _id: { $in: [...seqOf.keys()].map((id) => `mail:${id}`) } }, onlyId)
      .toArray(),
    db
      .collection(EXCEPTIONS)
      .find({ _id: { $in: entries } }, onlyId)
      .toArray(),
  ])
  const seqsElsewhere = [...audits, ...mails].map(({ _id }) => seqOf.get(_id.replace(/^mail:/, '')) ?? 0)
  return { seqsElsewhere, inboxEntries: inbox.length }
}
