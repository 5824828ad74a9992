import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { User, UserRepository } from '#shared/ports/users.ts'
import { SESSIONS, USERS, type UserDocument } from './operator-models.ts'

/** Users on MongoDB. A change that must take effect at once ends their sessions in the same transaction. */
export function createUserRepository(db: Database): UserRepository {
  const users = db.collection(USERS)
  const sessions = db.collection(SESSIONS)
  const endSessions = async (userId: string, keepLoginId: string | null, session: mongoose.mongo.ClientSession) => {
    await sessions.deleteMany({ userId, ...(keepLoginId !== null && { loginId: { $ne: keepLoginId } }) }, { session })
  }
  return {
    findById: async (id) => fromDocument(await users.findOne({ _id: id })),
    findByEmail: async (email) => fromDocument(await users.findOne({ email })),
    findMany: async (ids) =>
      (await users.find({ _id: { $in: [...ids] } }).toArray()).flatMap((stored) => fromDocument(stored) ?? []),
    list: async () => (await users.find().sort({ email: 1 }).toArray()).flatMap((stored) => fromDocument(stored) ?? []),
    insert: async (user, auditWrite) => {
      try {
        return await audited(db, auditWrite, async (session) => {
          await users.insertOne(userToDocument(user), { session })
          return true
        })
      } catch (error) {
        if (duplicateKeyFields(error) !== null) return false
        throw error
      }
    },
    setOperator: async (id, isOperator, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        const held = { _id: id, isOperator: { $ne: isOperator } }
        const { matchedCount } = await users.updateOne(held, { $set: { isOperator } }, { session })
        if (matchedCount === 1) await endSessions(id, null, session)
        return matchedCount === 1
      }),
    useTotpStep: async (id, step) => {
      const unused = { _id: id, 'totp.lastStep': { $lt: step } }
      return (await users.updateOne(unused, { $set: { 'totp.lastStep': step } })).matchedCount === 1
    },
    setPendingTotp: async (id, pendingTotp, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        return (await users.updateOne({ _id: id }, { $set: { pendingTotp } }, { session })).matchedCount === 1
      }),
    confirmTotp: async (id, { sealedSecret, lastStep, at, recoveryHashes, keepLoginId }, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        const totp = { sealedSecret, lastStep, since: at }
        const change = { $set: { totp, pendingTotp: null, recoveryHashes: [...recoveryHashes] } }
        const held = { _id: id, 'pendingTotp.sealedSecret': sealedSecret }
        const { matchedCount } = await users.updateOne(held, change, { session })
        if (matchedCount === 1) await endSessions(id, keepLoginId, session)
        return matchedCount === 1
      }),
    removeTotp: async (id, keepLoginId, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        const change = { $set: { totp: null, pendingTotp: null, recoveryHashes: [] } }
        const { matchedCount } = await users.updateOne({ _id: id, totp: { $ne: null } }, change, { session })
        if (matchedCount === 1) await endSessions(id, keepLoginId, session)
        return matchedCount === 1
      }),
    useRecoveryHash: async (id, hash, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        const held = { _id: id, recoveryHashes: hash }
        return (await users.updateOne(held, { $pull: { recoveryHashes: hash } }, { session })).matchedCount === 1
      }),
    setRecoveryHashes: async (id, hashes, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        const change = { $set: { recoveryHashes: [...hashes] } }
        return (await users.updateOne({ _id: id, totp: { $ne: null } }, change, { session })).matchedCount === 1
      }),
    setPassword: async (id, from, passwordHash, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        const held = { _id: id, ...(from !== null && { passwordHash: from }) }
        const { matchedCount } = await users.updateOne(held, { $set: { passwordHash } }, { session })
        if (matchedCount === 1) await endSessions(id, null, session)
        return matchedCount === 1
      }),
  }
}

/** The stored form of a person. */
export function userToDocument({ id, createdAt, recoveryHashes, devices, ...same }: User): UserDocument {
  const lists = { recoveryHashes: [...recoveryHashes], devices: [...devices] }
  return { _id: id, ...same, ...lists, createdAt: toDate(createdAt) }
}

function fromDocument(stored: UserDocument | null): User | null {
  if (stored === null) return null
  const { _id, createdAt, ...same } = stored
  return { id: _id, ...same, createdAt: toMs(createdAt) }
}
