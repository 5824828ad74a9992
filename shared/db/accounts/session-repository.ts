import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { Session } from '#shared/ports/sessions.ts'
import type { ActingSession } from '#shared/ports/users.ts'
import { SESSIONS, type SessionDocument, USERS, type User } from './operator-models.ts'
import { isLiving, raiseEpoch } from './security-epoch.ts'

type Transaction = mongoose.mongo.ClientSession

/** Browsers stored per person; the oldest is dropped first. */
const DEVICES_MAX = 20
const SESSIONS_LISTED_MAX = 100

/** Sessions on MongoDB, found by the digest of their token. */
export function createSessionRepository(db: Database) {
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
    /**
     * Stores a login with its audit row and mails, and stores the browser's device token with the user. `pending`: the session that awaited the
     * code, which ends with it. False, and nothing stored, when the person's epoch is not the session's any more, or `pending` ended.
     */
    begin: async (
      session: Session,
      { device, pending }: { readonly device: string | null; readonly pending: ActingSession | null },
      auditWrite: AuditWrite,
    ): Promise<boolean> =>
      await audited(db, auditWrite, async (transaction) => {
        const person = { _id: session.userId, securityEpoch: session.securityEpoch }
        if ((await users.findOne(person, { session: transaction })) === null) return false
        if (pending !== null) {
          if (!(await isLiving(db, pending, session.loggedInAt, transaction))) return false
          await sessions.deleteOne({ _id: pending.id }, { session: transaction })
        }
        await sessions.insertOne(toDocument(session), { session: transaction })
        if (device !== null) {
          const unknown = { ...person, devices: { $ne: device } }
          const change = { $push: { devices: { $each: [device], $slice: -DEVICES_MAX } } }
          await users.updateOne(unknown, change, { session: transaction })
        }
        return true
      }),
    /** The session with its person. */
    find: async (id: string): Promise<{ readonly session: Session; readonly user: User } | null> => {
      const stored = await sessions.findOne({ _id: id })
      if (stored === null) return null
      const session = fromDocument(stored)
      const user = USERS.toRecord(await users.findOne({ _id: session.userId, securityEpoch: session.securityEpoch }))
      return user === null ? null : { session, user }
    },
    touch: async (id: string, at: Ms): Promise<void> => {
      await sessions.updateOne({ _id: id }, { $max: { seenAt: toDate(at) } })
    },
    /**
     * Replaces `id` by `next` in one step. The former token is valid until `formerEndsAt`, for requests in
     * flight, with its former rights only; stored with its audit row if one is given. False when it is gone, was
     * replaced already, or is not of the epoch of `next` any more.
     */
    replace: async (id: string, next: Session, formerEndsAt: Ms, auditWrite: AuditWrite | null): Promise<boolean> => {
      const change = async (transaction: Transaction): Promise<boolean> => {
        const former = { $set: { replaced: true, endsAt: toDate(formerEndsAt) } }
        const held = { _id: id, replaced: false, securityEpoch: next.securityEpoch }
        const { matchedCount } = await sessions.updateOne(held, former, { session: transaction })
        if (matchedCount === 1) await sessions.insertOne(toDocument(next), { session: transaction })
        return matchedCount === 1
      }
      return await (auditWrite === null ? db.inTransaction(change) : audited(db, auditWrite, change))
    },
    /** Newest first. */
    listByUser: async (userId: string): Promise<readonly Session[]> => {
      const user = USERS.toRecord(await users.findOne({ _id: userId }))
      if (user === null) return []
      const open = { userId, replaced: false, securityEpoch: user.securityEpoch }
      const found = await sessions.find(open).sort({ loggedInAt: -1 }).limit(SESSIONS_LISTED_MAX).toArray()
      return found.map(fromDocument)
    },
    /** Ends a login with all its tokens, with the audit row if one is given; returns how many tokens there were. */
    end: async (userId: string, loginId: string, auditWrite: AuditWrite | null): Promise<number> =>
      auditWrite === null
        ? (await sessions.deleteMany({ userId, loginId })).deletedCount
        : ended({ userId, loginId }, auditWrite),
    /**
     * Raises the person's epoch and ends every login but the one that does it, with the audit row; returns how many there were. Null
     * when that session has ended itself.
     */
    endOthers: async (by: ActingSession, auditWrite: AuditWrite): Promise<number | null> => {
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
