import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { Session, SessionRepository } from '#shared/ports/sessions.ts'
import { SESSIONS, type SessionDocument, USERS } from './operator-models.ts'
import { isLiving, raiseEpoch } from './security-epoch.ts'
import { userFromDocument } from './user-repository.ts'

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
    begin: async (session, { device, asked }, auditWrite) =>
      await audited(db, auditWrite, async (transaction) => {
        const person = { _id: session.userId, securityEpoch: session.securityEpoch }
        if ((await users.findOne(person, { session: transaction })) === null) return false
        if (asked !== null) {
          if (!(await isLiving(db, asked, session.loggedInAt, transaction))) return false
          await sessions.deleteOne({ _id: asked.id }, { session: transaction })
        }
        await sessions.insertOne(toDocument(session), { session: transaction })
        if (device !== null) {
          const unknown = { ...person, devices: { $ne: device } }
          const change = { $push: { devices: { $each: [device], $slice: -DEVICES_MAX } } }
          await users.updateOne(unknown, change, { session: transaction })
        }
        return true
      }),
    find: async (id) => {
      const stored = await sessions.findOne({ _id: id })
      if (stored === null) return null
      const session = fromDocument(stored)
      const user = userFromDocument(await users.findOne({ _id: session.userId, securityEpoch: session.securityEpoch }))
      return user === null ? null : { session, user }
    },
    touch: async (id, at) => {
      await sessions.updateOne({ _id: id }, { $max: { seenAt: toDate(at) } })
    },
    replace: async (id, next, formerEndsAt, auditWrite) => {
      const change = async (transaction: Transaction): Promise<boolean> => {
        const former = { $set: { replaced: true, endsAt: toDate(formerEndsAt) } }
        const held = { _id: id, replaced: false, securityEpoch: next.securityEpoch }
        const { matchedCount } = await sessions.updateOne(held, former, { session: transaction })
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
    listByUser: async (userId) => {
      const user = userFromDocument(await users.findOne({ _id: userId }))
      if (user === null) return []
      const open = { userId, replaced: false, securityEpoch: user.securityEpoch }
      const found = await sessions.find(open).sort({ loggedInAt: -1 }).limit(SESSIONS_LISTED_MAX).toArray()
      return found.map(fromDocument)
    },
    end: async (userId, loginId, auditWrite) =>
      auditWrite === null
        ? (await sessions.deleteMany({ userId, loginId })).deletedCount
        : ended({ userId, loginId }, auditWrite),
    endOthers: async (by, auditWrite) => {
      let count: number | null = null
      await audited(db, auditWrite, async (transaction) => {
        count = null
        if (!(await isLiving(db, by, auditWrite.audit.at, transaction))) return false
        const raise = { userId: by.userId, from: by.securityEpoch, keepSession: by.id }
        count = (await raiseEpoch(db, raise, transaction))?.ended ?? null
        return count !== null
      })
      return count
    },
  }
}

const toDocument = (session: Session): SessionDocument => ({ ...SESSIONS.toDocument(session), replaced: false })

const fromDocument = (stored: SessionDocument): Session => SESSIONS.toRecord(stored)
