import type { ExceptionRecord, ExceptionRepository } from '#shared/usecases/ports/events.ts'
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
    close: async (ids, at) => {
      if (ids.length === 0) return
      await exceptions.updateMany(
        { _id: { $in: [...ids] }, open: true },
        { $set: { open: false, closedAt: toDate(at) } },
      )
    },
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
