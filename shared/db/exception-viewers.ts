import type { ExceptionViewers } from '#shared/usecases/ports/exception-viewers.ts'
import type { Database } from './connect.ts'
import { toDate } from './dates.ts'
import { EXCEPTION_VIEWERS } from './exception-viewer-model.ts'

const PEOPLE_MAX = 20

/** Who has which entry of the inbox open, on MongoDB. */
export function createExceptionViewers(db: Database): ExceptionViewers {
  const viewers = db.collection(EXCEPTION_VIEWERS)
  return {
    keep: async ({ id, ...same }, at) => {
      await viewers.updateOne({ _id: id }, { $set: { ...same, seenAt: toDate(at) } }, { upsert: true })
    },
    leave: async (id) => {
      await viewers.deleteOne({ _id: id })
    },
    listOthers: async ({ exceptionId, workspaceId, userId, seenAfter }) => {
      const people = await viewers
        .aggregate<{ name: string }>(
          [
            { $match: { exceptionId, seenAt: { $gt: toDate(seenAfter) }, workspaceId, userId: { $ne: userId } } },
            { $group: { _id: '$userId', name: { $first: '$name' } } },
            { $sort: { name: 1, _id: 1 } },
            { $limit: PEOPLE_MAX },
          ],
          { hint: 'exception_viewer_entry' },
        )
        .toArray()
      return people.map(({ name }) => name)
    },
  }
}
