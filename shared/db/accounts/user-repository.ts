import type mongoose from 'mongoose'
import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { ActingSession, Authority, PersonAt, User } from '#shared/ports/users.ts'
import { USERS, type UserDocument } from './operator-models.ts'
import { isLiving, type Raise, raiseEpoch } from './security-epoch.ts'

/** Users on MongoDB. A change of what sessions are decided on raises the epoch in the same transaction. */
export function createUserRepository(db: Database) {
  const users = db.collection(USERS)
  /** A change that raises the epoch, by an operator or in a session that still lives. */
  const raised = async (
    by: Authority,
    { keepsSession, ...change }: Pick<Raise, 'held' | 'set'> & { readonly keepsSession: boolean },
    auditWrite: AuditWrite,
  ): Promise<number | null> => {
    let epoch: number | null = null
    const done = await audited(db, auditWrite, async (transaction) => {
      const raise = await raiseOf(db, by, { keepsSession, at: auditWrite.audit.at }, transaction)
      epoch = raise === null ? null : ((await raiseEpoch(db, { ...change, ...raise }, transaction))?.epoch ?? null)
      return epoch !== null
    })
    return done ? epoch : null
  }
  /** A change of the person in a session that still lives. */
  const changed = async (by: ActingSession, set: Partial<UserDocument>, held: object, auditWrite: AuditWrite) =>
    await audited(db, auditWrite, async (session) => {
      if (!(await isLiving(db, by, auditWrite.audit.at, session))) return false
      const person = { _id: by.userId, securityEpoch: by.securityEpoch, ...held }
      return (await users.updateOne(person, { $set: set }, { session })).matchedCount === 1
    })
  return {
    findById: async (id: string): Promise<User | null> => USERS.toRecord(await users.findOne({ _id: id })),
    findByEmail: async (email: string): Promise<User | null> => USERS.toRecord(await users.findOne({ email })),
    findMany: async (ids: readonly string[]): Promise<readonly User[]> =>
      (await users.find({ _id: { $in: [...ids] } }).toArray()).map(USERS.toRecord),
    list: async (): Promise<readonly User[]> => (await users.find().sort({ email: 1 }).toArray()).map(USERS.toRecord),
    /** False when the address is taken. */
    insert: async (user: User, auditWrite: AuditWrite): Promise<boolean> => {
      let isStored = false
      await unlessTaken(async () => {
        isStored = await insertAudited(db, auditWrite, (within) => users.insertOne(USERS.toDocument(user), within))
      })
      return isStored
    },
    /** False when this step, or a later one, was used already. */
    useTotpStep: async ({ id, securityEpoch }: PersonAt, step: number): Promise<boolean> => {
      const unused = { _id: id, securityEpoch, 'totp.lastStep': { $lt: step } }
      return (await users.updateOne(unused, { $set: { 'totp.lastStep': step } })).matchedCount === 1
    },
    setPendingTotp: async (
      by: ActingSession,
      pendingTotp: NonNullable<User['pendingTotp']>,
      auditWrite: AuditWrite,
    ): Promise<boolean> => await changed(by, { pendingTotp }, {}, auditWrite),
    /** Activates the pending secret if it is still `sealedSecret`; every other session ends. Returns the raised epoch. */
    confirmTotp: async (
      by: Extract<Authority, { session: unknown }>,
      {
        sealedSecret,
        lastStep,
        at,
        recoveryHashes,
      }: {
        readonly sealedSecret: string
        readonly lastStep: number
        readonly at: Ms
        readonly recoveryHashes: readonly string[]
      },
      auditWrite: AuditWrite,
    ): Promise<number | null> => {
      const totp = { sealedSecret, lastStep, since: at }
      const set = { totp, pendingTotp: null, recoveryHashes: [...recoveryHashes] }
      const held = { 'pendingTotp.sealedSecret': sealedSecret }
      return await raised(by, { held, set, keepsSession: true }, auditWrite)
    },
    /** Every session but the one that does it ends. Returns the raised epoch. */
    removeTotp: async (by: Authority, auditWrite: AuditWrite): Promise<number | null> => {
      const set = { totp: null, pendingTotp: null, recoveryHashes: [] }
      return await raised(by, { held: { totp: { $ne: null } }, set, keepsSession: true }, auditWrite)
    },
    /** Removes one recovery code; false when it was used or never existed. */
    useRecoveryHash: async ({ id, securityEpoch }: PersonAt, hash: string, auditWrite: AuditWrite): Promise<boolean> =>
      await audited(db, auditWrite, async (session) => {
        const held = { _id: id, securityEpoch, recoveryHashes: hash }
        return (await users.updateOne(held, { $pull: { recoveryHashes: hash } }, { session })).matchedCount === 1
      }),
    setRecoveryHashes: async (by: ActingSession, hashes: readonly string[], auditWrite: AuditWrite): Promise<boolean> =>
      await changed(by, { recoveryHashes: [...hashes] }, { totp: { $ne: null } }, auditWrite),
    /** Replaces the password and ends every session, also the one that does it. Returns the raised epoch. */
    setPassword: async (by: Authority, passwordHash: string, auditWrite: AuditWrite): Promise<number | null> =>
      await raised(by, { set: { passwordHash }, keepsSession: false }, auditWrite),
  }
}

/** The type of what {@link createUserRepository} returns. */
export type UserRepository = ReturnType<typeof createUserRepository>

/** Whose epoch is raised from what, and what stays; null when the session has ended. */
async function raiseOf(
  db: Database,
  by: Authority,
  { keepsSession, at }: { readonly keepsSession: boolean; readonly at: number },
  transaction: mongoose.mongo.ClientSession,
): Promise<Raise | null> {
  if ('operatorOn' in by) return { userId: by.operatorOn, from: null, keepDevice: null }
  const { session, keepDevice } = by
  if (!(await isLiving(db, session, at, transaction))) return null
  const { id, userId, securityEpoch: from } = session
  return { userId, from, keepDevice, keepSession: keepsSession ? id : null }
}
