import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { ExceptionKind, Mode } from '#shared/domain/enumerations.ts'
import type { Decision, DeskEntry, DeskQuery, ExceptionDesk } from '#shared/ports/exception-decisions.ts'
import { type DecisionDocument, EXCEPTIONS, type ExceptionDocument } from './exception-model.ts'
import { exceptionFromDocument } from './exception-repository.ts'

type Filter = mongoose.mongo.Filter<ExceptionDocument>

const NOTES_MAX = 50

/** The operators' side of the inbox on MongoDB. A claim is one compare-and-set, so of two people at once one decides. */
export function createExceptionDesk(db: Database): ExceptionDesk {
  const exceptions = db.collection(EXCEPTIONS)
  return {
    find: async (workspaceId, mode, id) => {
      const stored = await exceptions.findOne({ _id: id, workspaceId, mode: ofMode(mode) })
      return stored === null ? null : fromDocument(stored)
    },
    list: async (query) => {
      const order = query.open ? ({ openedAt: 1, _id: 1 } as const) : ({ closedAt: -1, _id: -1 } as const)
      const hint = query.open ? 'exception_desk_open' : 'exception_desk_closed'
      const found = await exceptions.find(deskFilter(query), { hint }).sort(order).limit(query.limit).toArray()
      return found.map(fromDocument)
    },
    countOpen: async (workspaceId, mode, max) => {
      const found = await exceptions
        .aggregate<{ _id: ExceptionKind; count: number }>(
          [
            { $match: { workspaceId, open: true, mode: ofMode(mode) } },
            { $limit: max },
            { $group: { _id: '$kind', count: { $sum: 1 } } },
          ],
          { hint: 'exception_desk_open' },
        )
        .toArray()
      return new Map(found.map(({ _id, count }) => [_id, count]))
    },
    summariseOpen: async (openedBefore) => {
      const found = await exceptions
        .aggregate<{ _id: { workspaceId: string; kind: ExceptionKind }; count: number; oldestAt: Date }>(
          [
            { $match: { open: true, workspaceId: { $type: 'string' }, openedAt: { $lt: toDate(openedBefore) } } },
            {
              $group: {
                _id: { workspaceId: '$workspaceId', kind: '$kind' },
                count: { $sum: 1 },
                oldestAt: { $min: '$openedAt' },
              },
            },
          ],
          { hint: 'exception_open' },
        )
        .toArray()
      return found.map(({ _id, count, oldestAt }) => ({ ..._id, count, oldestAt: toMs(oldestAt) }))
    },
    findOpenByPayment: async (workspaceId, paymentKey) => {
      const stored = await exceptions.findOne({ paymentKey, workspaceId, open: true }, { hint: 'exception_payment' })
      return stored === null ? null : fromDocument(stored)
    },
    ...deeds(db),
  }
}

/** The filter of a page of the inbox; exported for the test that explains it. */
export function deskFilter({ workspaceId, mode, open, kinds, after }: DeskQuery): Filter {
  return {
    workspaceId,
    open,
    mode: ofMode(mode),
    ...(kinds.length > 0 && { kind: { $in: [...kinds] } }),
    ...(after !== null && behind(open, toDate(after.at), after.id)),
  }
}

function behind(open: boolean, at: Date, id: string): Filter {
  return open
    ? { openedAt: { $gte: at }, $or: [{ openedAt: { $gt: at } }, { openedAt: at, _id: { $gt: id } }] }
    : { closedAt: { $lte: at }, $or: [{ closedAt: { $lt: at } }, { closedAt: at, _id: { $lt: id } }] }
}

function deeds(db: Database): Pick<ExceptionDesk, 'claim' | 'release' | 'resolve' | 'addNote'> {
  const exceptions = db.collection(EXCEPTIONS)
  return {
    claim: async (id, decision, staleBefore) => {
      const free = [
        { deciding: { $exists: false } },
        { 'deciding.opId': decision.opId },
        { 'deciding.at': { $lt: toDate(staleBefore) } },
      ]
      const claimed = await exceptions.updateOne(
        { _id: id, open: true, $or: free },
        { $set: { deciding: decisionToDocument(decision) } },
      )
      return claimed.matchedCount === 1
    },
    release: async (id, opId) => {
      await exceptions.updateOne({ _id: id, 'deciding.opId': opId }, { $unset: { deciding: '' } })
    },
    // The invoice's own relay may have closed it meanwhile: who decided it is noted all the same.
    resolve: (id, decision, audit) =>
      audited(db, audit, async (session) => {
        const change = {
          $set: { open: false, closedAt: toDate(decision.at), resolved: decisionToDocument(decision) },
          $unset: { deciding: '' as const },
        }
        const held = { _id: id, 'deciding.opId': decision.opId }
        return (await exceptions.updateOne(held, change, { session })).matchedCount === 1
      }),
    addNote: (id, note, audit) =>
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

/** What concerns a workspace as a whole shows in both modes. */
function ofMode(mode: Mode): { $in: (Mode | null)[] } {
  return { $in: [mode, null] }
}

const decisionToDocument = (decision: Decision): DecisionDocument => ({ ...decision, at: toDate(decision.at) })
const decisionFromDocument = (stored: DecisionDocument | undefined): Decision | null =>
  stored === undefined ? null : { ...stored, at: toMs(stored.at) }

function fromDocument(stored: ExceptionDocument): DeskEntry {
  return {
    ...exceptionFromDocument(stored),
    deciding: decisionFromDocument(stored.deciding),
    resolved: decisionFromDocument(stored.resolved),
    notes: (stored.notes ?? []).map((note) => ({ ...note, at: toMs(note.at) })),
  }
}
