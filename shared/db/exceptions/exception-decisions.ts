import type mongoose from 'mongoose'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { EXCEPTION_KINDS, type ExceptionKind, type Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ExceptionEntry, ExceptionQuery, OpenSummary } from '#shared/ports/exception-decisions.ts'
import {
  ALL_KINDS,
  type Decision,
  EXCEPTIONS,
  type ExceptionDocument,
  type ExceptionNote,
  INBOX_CLOSED,
  INBOX_OPEN,
} from './exception-model.ts'

type Filter = mongoose.mongo.Filter<ExceptionDocument>

const NOTES_MAX = 50
/** A larger count of open exceptions of one kind is of no use in a mail. */
const SUMMARISED_MAX = 10_000
/** Of a workspace as a whole, too. */
const MODES = ['live', 'test', null] as const

/** The operators' side of exceptions on MongoDB. A claim is one compare-and-set, so of two concurrent people one decides. */
export function createExceptionDecisions(db: Database) {
  const exceptions = db.collection(EXCEPTIONS)
  return {
    find: async (workspaceId: string, mode: Mode, id: string): Promise<ExceptionEntry | null> => {
      const stored = await exceptions.findOne({ _id: id, workspaceId, mode: ofMode(mode) })
      return stored === null ? null : fromDocument(stored)
    },
    list: async (query: ExceptionQuery): Promise<readonly ExceptionEntry[]> => {
      const order = query.open ? ({ openedAt: 1, _id: 1 } as const) : ({ closedAt: -1, _id: -1 } as const)
      const hint = query.open ? INBOX_OPEN : INBOX_CLOSED
      const found = await exceptions.find(exceptionFilter(query), { hint }).sort(order).limit(query.limit).toArray()
      return found.map(fromDocument)
    },
    /** Open exceptions by kind, each counted up to `max`. */
    countOpen: async (workspaceId: string, mode: Mode, max: number): Promise<ReadonlyMap<ExceptionKind, number>> => {
      const open = { workspaceId, open: true, mode: ofMode(mode) }
      const found = await exceptions
        .aggregate<{ _id: ExceptionKind; count: number }>(
          [{ $match: { ...open, kind: ALL_KINDS } }, { $limit: max }, { $group: { _id: '$kind', count: { $sum: 1 } } }],
          { hint: INBOX_OPEN },
        )
        .toArray()
      const isAll = found.reduce((sum, { count }) => sum + count, 0) < max
      if (isAll) return new Map(found.map(({ _id, count }) => [_id, count]))
      return await countEachKind(db, open, max)
    },
    /** The workspaces with open exceptions, and the kinds of each, however many exceptions of a kind are open. */
    workspacesWithOpen: async (): Promise<ReadonlyMap<string, readonly ExceptionKind[]>> => {
      const kindsOf = new Map<string, ExceptionKind[]>()
      for (const kind of EXCEPTION_KINDS) {
        // The index jumps from one workspace to the next, past all their exceptions.
        const open = { open: true, kind, workspaceId: { $gt: '' } }
        for (const id of await exceptions.distinct('workspaceId', open)) {
          if (id !== null) kindsOf.set(id, [...(kindsOf.get(id) ?? []), kind])
        }
      }
      return kindsOf
    },
    /** Open exceptions of these kinds of a workspace that were opened before a time; each kind and mode is counted apart, so that many of one hide no others. */
    summariseOpen: async (
      workspaceId: string,
      kinds: readonly ExceptionKind[],
      openedBefore: Ms,
    ): Promise<readonly OpenSummary[]> => {
      const groups = kinds.flatMap((kind) => MODES.map((mode) => ({ kind, mode })))
      const rows = await Promise.all(
        groups.map(async ({ kind, mode }) => {
          const open = { open: true, kind, workspaceId, mode, openedAt: { $lt: toDate(openedBefore) } }
          const [found] = await exceptions
            .aggregate<{ count: number; oldestAt: Date }>(
              [
                { $match: open },
                // The oldest come first.
                { $limit: SUMMARISED_MAX },
                { $group: { _id: null, count: { $sum: 1 }, oldestAt: { $min: '$openedAt' } } },
              ],
              { hint: INBOX_OPEN },
            )
            .toArray()
          return found === undefined ? [] : [{ kind, mode, count: found.count, oldestAt: toMs(found.oldestAt) }]
        }),
      )
      return rows.flat()
    },
    /** The open exception about a transfer, if any. */
    findOpenByPayment: async (workspaceId: string, paymentKey: string): Promise<ExceptionEntry | null> => {
      const about = { $eq: paymentKey, $type: 'string' as const }
      const wanted = { paymentKey: about, workspaceId, open: true }
      const stored = await exceptions.findOne(wanted, { hint: 'exception_payment' })
      return stored === null ? null : fromDocument(stored)
    },
    /** The last decision that rejected a transfer and stands; null when there is none, or its exception was reopened. */
    findRejection: async (workspaceId: string, paymentKey: string): Promise<Decision | null> => {
      const about = { $eq: paymentKey, $type: 'string' as const }
      const wanted = { paymentKey: about, workspaceId, open: false, 'resolved.resolution': 'rejected' as const }
      const found = exceptions.find(wanted, { hint: 'exception_payment' }).sort({ closedAt: -1 }).limit(1)
      const [stored] = await found.toArray()
      return stored === undefined ? null : fromDocument(stored).resolved
    },

    /** Claims an open exception for one decision: false while another one that began after `staleBefore` is running, or when it is closed. */
    claim: async (id: string, decision: Decision, staleBefore: Ms): Promise<boolean> => {
      const free = [
        { deciding: { $exists: false } },
        { 'deciding.opId': decision.opId },
        { 'deciding.at': { $lt: toDate(staleBefore) } },
      ]
      const claimed = await exceptions.updateOne(
        { _id: id, open: true, $or: free },
        { $set: EXCEPTIONS.toFields({ deciding: decision }) },
      )
      return claimed.matchedCount === 1
    },
    /** Ends a claim whose decision was refused. */
    release: async (id: string, opId: string): Promise<void> => {
      await exceptions.updateOne({ _id: id, 'deciding.opId': opId }, { $unset: { deciding: '' } })
    },
    // The invoice's own relay may have closed it meanwhile: the decision is recorded all the same, but not a rejection, because money may be why it closed.
    /** Closes the exception under its claim, together with the audit row; false when the claim is another's by now, and for a rejection of what closed meanwhile. */
    resolve: (id: string, decision: Decision, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const change = {
          $set: { open: false, ...EXCEPTIONS.toFields({ closedAt: decision.at, resolved: decision }) },
          $unset: { deciding: '' as const },
        }
        const isOpen = decision.resolution === 'rejected' ? { open: true } : {}
        const held = { _id: id, 'deciding.opId': decision.opId, ...isOpen }
        return (await exceptions.updateOne(held, change, { session })).matchedCount === 1
      }),
    /** Adds a note together with its audit row; false when the operation already added it, or there are too many. */
    addNote: (id: string, note: ExceptionNote, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const room = { [`notes.${NOTES_MAX - 1}`]: { $exists: false } }
        const added = await exceptions.updateOne(
          { _id: id, 'notes.opId': { $ne: note.opId }, ...room },
          { $push: { notes: { ...note, at: toDate(note.at) } } },
          { session },
        )
        return added.matchedCount === 1
      }),
  }
}

/** The filter of a page of exceptions; exported for the test that explains it. */
export function exceptionFilter({ workspaceId, mode, open, kinds, after }: ExceptionQuery): Filter {
  return {
    workspaceId,
    open,
    mode: ofMode(mode),
    kind: kinds.length > 0 ? { $in: [...kinds] } : ALL_KINDS,
    ...(after !== null && behind(open, toDate(after.at), after.id)),
  }
}

function behind(open: boolean, at: Date, id: string): Filter {
  return open
    ? { openedAt: { $gte: at }, $or: [{ openedAt: { $gt: at } }, { openedAt: at, _id: { $gt: id } }] }
    : { closedAt: { $lte: at }, $or: [{ closedAt: { $lt: at } }, { closedAt: at, _id: { $lt: id } }] }
}

/** Exceptions about a workspace as a whole show in both modes. */
function ofMode(mode: Mode): { $in: (Mode | null)[] } {
  return { $in: [mode, null] }
}

function fromDocument(stored: ExceptionDocument): ExceptionEntry {
  const { deciding = null, resolved = null, notes = [], ...record } = EXCEPTIONS.toRecord(stored)
  return { ...record, deciding, resolved, notes }
}

/** Exceptions by kind, each counted up to `max` from the index alone: many of one kind hide no others. */
export async function countEachKind(
  db: Database,
  open: { readonly open: boolean; readonly workspaceId?: string; readonly mode?: ReturnType<typeof ofMode> },
  max: number,
): Promise<ReadonlyMap<ExceptionKind, number>> {
  const rows = db.collection(EXCEPTIONS)
  const counts = await Promise.all(
    EXCEPTION_KINDS.map(async (kind) => {
      return [kind, await rows.countDocuments({ ...open, kind }, { hint: INBOX_OPEN, limit: max })] as const
    }),
  )
  return new Map(counts.filter(([, count]) => count > 0))
}
