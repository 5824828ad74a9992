import type { ExceptionRecord, ExceptionRepository } from '#shared/usecases/ports/events.ts'
import { audited } from './audited.ts'
import type { Database } from './connect.ts'
import { toDate, toMs, toMsOrNull } from './dates.ts'
import { EXCEPTIONS, type ExceptionDocument } from './exception-model.ts'

/** The operators' inbox on MongoDB. Ids are deterministic, hence opening twice is opening once. */
export function createExceptionRepository(db: Database): ExceptionRepository {
  const exceptions = db.collection(EXCEPTIONS)
  return {
    open: async (records) => {
      if (records.length === 0) return
      const operations = records.map(({ id, openedAt, closedAt: _closedAt, ...same }) => ({
        updateOne: {
          filter: { _id: id },
          update: { $setOnInsert: { ...same, openedAt: toDate(openedAt) }, $set: { open: true, closedAt: null } },
          upsert: true,
        },
      }))
      await exceptions.bulkWrite(operations, { ordered: false })
    },
    openOnce: async (records) => {
      if (records.length === 0) return
      const rows = records.map(({ id, openedAt, closedAt: _closedAt, ...same }) => ({
        updateOne: {
          filter: { _id: id },
          update: { $setOnInsert: { ...same, openedAt: toDate(openedAt), open: true, closedAt: null } },
          upsert: true,
        },
      }))
      await exceptions.bulkWrite(rows, { ordered: false })
    },
    close: async (ids, at) => {
      if (ids.length === 0) return
      await exceptions.updateMany(
        { _id: { $in: [...ids] }, open: true },
        { $set: { open: false, closedAt: toDate(at) } },
      )
    },
    findById: async (id) => {
      const stored = await exceptions.findOne({ _id: id })
      return stored === null ? null : fromDocument(stored)
    },
    listByInvoice: async (invoiceId) =>
      (await exceptions.find({ invoiceId }).sort({ openedAt: -1 }).toArray()).map(fromDocument),
    closeAudited: (id, at, audit) =>
      audited(db, audit, async (session) => {
        const change = { $set: { open: false, closedAt: toDate(at) } }
        return (await exceptions.updateOne({ _id: id, open: true }, change, { session })).matchedCount === 1
      }),
    listOpen: async (workspaceId) => {
      const found = await exceptions
        .find({ open: true, ...(workspaceId !== null && { workspaceId }) }, { hint: 'exception_open' })
        .sort({ openedAt: -1 })
        .toArray()
      return found.map(fromDocument)
    },
  }
}

function fromDocument(stored: ExceptionDocument): ExceptionRecord {
  const { _id, open: _open, openedAt, closedAt, ...same } = stored
  return { id: _id, ...same, openedAt: toMs(openedAt), closedAt: toMsOrNull(closedAt) }
}
