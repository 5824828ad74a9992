import type { Session, SessionRepository } from '#shared/usecases/ports/operators.ts'
import { audited } from './audited.ts'
import type { Database } from './connect.ts'
import { toDate, toMs } from './dates.ts'
import { SESSIONS, type SessionDocument, USERS } from './operator-models.ts'

/** So many browsers of a person are remembered; the oldest goes first. */
const DEVICES_MAX = 20
const SESSIONS_LISTED_MAX = 100

/** Sessions on MongoDB, found by the digest of their token. */
export function createSessionRepository(db: Database): SessionRepository {
  const sessions = db.collection(SESSIONS)
  const users = db.collection(USERS)
  return {
    begin: async (session, device, noted) => {
      await audited(db, noted, async (transaction) => {
        await sessions.insertOne(toDocument(session), { session: transaction })
        if (device !== null) {
          const unknown = { _id: session.userId, devices: { $ne: device } }
          const change = { $push: { devices: { $each: [device], $slice: -DEVICES_MAX } } }
          await users.updateOne(unknown, change, { session: transaction })
        }
        return true
      })
    },
    find: async (id) => {
      const stored = await sessions.findOne({ _id: id })
      return stored === null ? null : fromDocument(stored)
    },
    touch: async (id, at) => {
      await sessions.updateOne({ _id: id }, { $max: { seenAt: toDate(at) } })
    },
    replace: async (id, next, formerEndsAt) => {
      const transaction = db.connection.getClient().startSession()
      try {
        return await transaction.withTransaction(async () => {
          const former = { $set: { replaced: true, endsAt: toDate(formerEndsAt) } }
          const { matchedCount } = await sessions.updateOne({ _id: id, replaced: false }, former, {
            session: transaction,
          })
          if (matchedCount === 1) await sessions.insertOne(toDocument(next), { session: transaction })
          return matchedCount === 1
        })
      } finally {
        await transaction.endSession()
      }
    },
    listByUser: async (userId) =>
      (
        await sessions.find({ userId, replaced: false }).sort({ loggedInAt: -1 }).limit(SESSIONS_LISTED_MAX).toArray()
      ).map(fromDocument),
    end: async (userId, loginId) => (await sessions.deleteMany({ userId, loginId })).deletedCount,
    endOthers: async (userId, keepLoginId) =>
      (await sessions.deleteMany({ userId, ...(keepLoginId !== null && { loginId: { $ne: keepLoginId } }) }))
        .deletedCount,
  }
}

function toDocument({ id, loggedInAt, seenAt, endsAt, ...same }: Session): SessionDocument {
  const times = { loggedInAt: toDate(loggedInAt), seenAt: toDate(seenAt), endsAt: toDate(endsAt) }
  return { _id: id, ...same, ...times, replaced: false }
}

function fromDocument({ _id, loggedInAt, seenAt, endsAt, replaced: _replaced, ...same }: SessionDocument): Session {
  return { id: _id, ...same, loggedInAt: toMs(loggedInAt), seenAt: toMs(seenAt), endsAt: toMs(endsAt) }
}
