import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { ExceptionKind, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { NetworkId } from '#shared/domain/networks.ts'
import type { ExceptionChange, ExceptionRecord } from '#shared/ports/exceptions.ts'
import { ALL_KINDS, EXCEPTIONS, type ExceptionDocument, INBOX_OPEN } from './exception-model.ts'

type Exceptions = ReturnType<typeof collectionOf>
const collectionOf = (db: Database) => db.collection(EXCEPTIONS)

/** Kinds that scanners open about unmatched money. */
const UNMATCHED_KINDS: ExceptionKind[] = ['wrong_asset', 'wrong_network', 'unmatched']

/** Exceptions on MongoDB. Ids are deterministic, so opening one twice opens it once. */
export function createExceptionRepository(db: Database) {
  const exceptions = collectionOf(db)
  return {
    /**
     * Applies the invoices' changes of their exceptions. A row with a later entry of its invoice (a higher `seq`) or this very
     * one is unchanged, so that a suspended relay cannot undo another one's writes, and an exception closed by a person
     * stays closed when an entry is relayed twice.
     */
    applyChanges: async (changes: readonly ExceptionChange[]): Promise<void> => {
      if (changes.length > 0) await exceptions.bulkWrite(changes.map(changeWrite), { ordered: true })
    },
    /** Opens the exceptions or leaves them open; reopening a closed one clears closedAt. */
    open: async (records: readonly ExceptionRecord[]): Promise<void> => {
      if (records.length === 0) return
      const operations = records.map(({ id, openedAt, closedAt: _closedAt, ...same }) => ({
        updateOne: {
          filter: { _id: id },
          update: {
            $setOnInsert: { ...same, openedAt: toDate(openedAt) },
            $set: { open: true, closedAt: null },
            $unset: { closedByItself: '' as const },
          },
          upsert: true,
        },
      }))
      await exceptions.bulkWrite(operations, { ordered: false })
    },
    /** Opens those that never existed or closed automatically (`closeGone`); one that a person closed stays closed. */
    openOnce: async (records: readonly ExceptionRecord[]): Promise<void> => {
      if (records.length === 0) return
      const rows = records.map(({ id, openedAt, closedAt: _closedAt, ...same }) => ({
        updateOne: {
          filter: { _id: id },
          update: { $setOnInsert: { ...same, openedAt: toDate(openedAt), open: true, closedAt: null } },
          upsert: true,
        },
      }))
      await exceptions.bulkWrite(rows, { ordered: false })
      await exceptions.updateMany(
        { _id: { $in: records.map(({ id }) => id) }, closedByItself: true },
        { $set: { open: true, closedAt: null }, $unset: { closedByItself: '' } },
      )
    },
    /**
     * Opens an exception about a lasting condition. An open one keeps its time and gets this text; a closed one
     * is reopened with this time and text.
     */
    report: (record: ExceptionRecord): Promise<void> => report(exceptions, record),
    close: async (ids: readonly string[], at: Ms): Promise<void> => {
      if (ids.length === 0) return
      await exceptions.updateMany(
        { _id: { $in: [...ids] }, open: true },
        { $set: { open: false, closedAt: toDate(at) } },
      )
    },
    /** Closes open exceptions about unmatched transfers under these keys, until they are seen again. */
    closeGone: async (paymentKeys: readonly string[], at: Ms): Promise<void> => {
      await exceptions.updateMany(
        { paymentKey: { $in: [...paymentKeys], $type: 'string' }, open: true, kind: { $in: UNMATCHED_KINDS } },
        { $set: { open: false, closedAt: toDate(at), closedByItself: true } },
      )
    },
    /** Transfer keys in open exceptions about unmatched transfers of a network, in order, starting after `after`. */
    unmatchedKeys: async ({
      mode,
      network,
      after,
      limit,
    }: {
      mode: Mode
      network: NetworkId
      after: string | null
      limit: number
    }): Promise<readonly string[]> => {
      // Transfer keys begin with mode and network, and ';' follows ':' in ASCII.
      const begin = { $gt: after ?? `${mode}:${network}:`, $lt: `${mode}:${network};`, $type: 'string' as const }
      const found = await exceptions
        .find({ paymentKey: begin, open: true, kind: { $in: UNMATCHED_KINDS } }, { projection: { paymentKey: 1 } })
        .sort({ paymentKey: 1 })
        .limit(limit)
        .toArray()
      return found.flatMap(({ paymentKey }) => paymentKey ?? [])
    },
    /** Those of these identifiers that exist, open or closed. */
    existing: async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
      if (ids.length === 0) return new Set()
      const found = await exceptions.find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } }).toArray()
      return new Set(found.map(({ _id }) => _id))
    },
    findById: async (id: string): Promise<ExceptionRecord | null> => {
      const stored = await exceptions.findOne({ _id: id })
      return stored === null ? null : exceptionFromDocument(stored)
    },
    /** All exceptions opened about one invoice, newest first. */
    listByInvoice: async (invoiceId: string): Promise<readonly ExceptionRecord[]> =>
      (await exceptions.find(ofInvoice(invoiceId)).sort({ openedAt: -1 }).toArray()).map(exceptionFromDocument),
    /** Closes an open entry together with its audit row; false when it is closed already, and while a decision that began after `staleBefore` holds it. */
    closeAudited: (id: string, at: Ms, staleBefore: Ms, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const { actor: by, id: opId } = audit
        const resolved = { opId, by, at: toDate(at), resolution: 'closed' as const, reason: null }
        const change = { $set: { open: false, closedAt: toDate(at), resolved }, $unset: { deciding: '' as const } }
        const free = [{ deciding: { $exists: false } }, { 'deciding.at': { $lt: toDate(staleBefore) } }]
        return (await exceptions.updateOne({ _id: id, open: true, $or: free }, change, { session })).matchedCount === 1
      }),
    listOpen: async (workspaceId: string | null): Promise<readonly ExceptionRecord[]> => {
      const found = await exceptions
        .find({ ...OPEN_OF_ALL_KINDS, ...(workspaceId !== null && { workspaceId }) }, { hint: INBOX_OPEN })
        .sort({ openedAt: -1 })
        .toArray()
      return found.map(exceptionFromDocument)
    },
  }
}

/** Exceptions about an invoice; the type lets the planner use the index of those with one. */
const ofInvoice = (invoiceId: string) => ({ invoiceId: { $eq: invoiceId, $type: 'string' as const } })

const OPEN_OF_ALL_KINDS = { open: true, kind: ALL_KINDS }

/** One update that compares `seq` and writes in the same step; `bulkWrite` applies several changes of one row in their order. */
function changeWrite({ record, seq, isOpen, at, creates }: ExceptionChange) {
  const isLater = { $lt: [{ $ifNull: ['$seq', -1] }, seq] }
  const { id, openedAt, closedAt: _closedAt, ...same } = record
  const first = Object.fromEntries(
    Object.entries({ ...same, openedAt: toDate(openedAt) }).map(([field, value]) => [
      field,
      { $ifNull: [`$${field}`, { $literal: value }] },
    ]),
  )
  // A row that is already closed keeps its closing time.
  const end = isOpen ? null : { $ifNull: ['$closedAt', toDate(at)] }
  const change = {
    $set: {
      ...first,
      open: { $cond: [isLater, isOpen, '$open'] },
      closedAt: { $cond: [isLater, end, '$closedAt'] },
      closedByItself: { $cond: [isLater, '$$REMOVE', '$closedByItself'] },
      seq: { $max: ['$seq', seq] },
    },
  }
  return { updateOne: { filter: { _id: id }, update: [change], upsert: creates } }
}

async function report(exceptions: Exceptions, record: ExceptionRecord): Promise<void> {
  const { id, openedAt, closedAt: _closedAt, detail, ...same } = record
  const standing = await exceptions.updateOne({ _id: id, open: true }, { $set: { detail } })
  if (standing.matchedCount === 1) return
  const opened = { open: true, closedAt: null, detail, openedAt: toDate(openedAt) }
  const change = { $setOnInsert: same, $set: opened, $unset: { closedByItself: '' as const, resolved: '' as const } }
  await exceptions.updateOne({ _id: id }, change, { upsert: true })
}

/** An exception without the operators' decisions and notes. */
function exceptionFromDocument(stored: ExceptionDocument): ExceptionRecord {
  const { deciding: _deciding, resolved: _resolved, notes: _notes, ...record } = EXCEPTIONS.toRecord(stored)
  return record
}
