import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { Session, SessionRepository } from '#shared/ports/sessions.ts'
import { SESSIONS, type SessionDocument, USERS } from './operator-models.ts'

type Transaction = mongoose.mongo.ClientSession

/** Browsers stored per person; the oldest is dropped first. */
const DEVICES_MAX = 20
const SESSIONS_LISTED_MAX = 100

/** Sessions on MongoDB, found by the digest of their token. */
export function createSessionRepository(db: Database): SessionRepository {
  const sessions = db.collection(SESSIONS)
  const users = db.collection(USERS)

  const ended = async (which: mongoose.mongo.Filter<SessionDocument>, auditWrite: AuditWrite): Promise<number> => {
    let count = 0
    await audited(db, auditWrite, async (transaction) => {
      count = (await sessions.deleteMany(which, { session: transaction })).deletedCount
      return count > 0
    })
    return count
  }

  return {
    begin: async (session, device, auditWrite) => {
      await audited(db, auditWrite, async (transaction) => {
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
    replace: async (id, next, formerEndsAt, auditWrite) => {
      const change = async (transaction: Transaction): Promise<boolean> => {
        const former = { $set: { replaced: true, endsAt: toDate(formerEndsAt) } }
        const { matchedCount } = await sessions.updateOne({ _id: id, replaced: false }, former, {
          session: transaction,
        })
        if (matchedCount === 1) await sessions.insertOne(toDocument(next), { session: transaction })
        return matchedCount === 1
      }
      if (auditWrite !== null) return await audited(db, auditWrite, change)
      const transaction = db.connection.getClient().startSession()
      try {
        return await transaction.withTransaction(() => change(transaction))
      } finally {
        await transaction.endSession()
      }
    },
    listByUser: async (userId) =>
      (
        await sessions.find({ userId, replaced: false }).sort({ loggedInAt: -1 }).limit(SESSIONS_LISTED_MAX).toArray()
      ).map(fromDocument),
    end: async (userId, loginId, auditWrite) =>
      auditWrite === null
        ? (await sessions.deleteMany({ userId, loginId })).deletedCount
        : ended({ userId, loginId }, auditWrite),
    endOthers: (userId, keepLoginId, auditWrite) => ended({ userId, loginId: { $ne: keepLoginId } }, auditWrite),
  }
}

function toDocument({ id, loggedInAt, seenAt, endsAt, ...same }: Session): SessionDocument {
  const times = { loggedInAt: toDate(loggedInAt), seenAt: toDate(seenAt), endsAt: toDate(endsAt) }
  return { _id: id, ...same, ...times, replaced: false }
}

function fromDocument({ _id, loggedInAt, seenAt, endsAt, replaced: _replaced, ...same }: SessionDocument): Session {
  return { id: _id, ...same, loggedInAt: toMs(loggedInAt), seenAt: toMs(seenAt), endsAt: toMs(endsAt) }
}
