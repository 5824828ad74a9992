import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { ActingSession } from '#shared/ports/users.ts'
import { PASSWORD_RESETS, SESSIONS, USERS, type UserDocument } from './operator-models.ts'

type Transaction = mongoose.mongo.ClientSession

/** Whether the session still is valid at `at`, under its newest token and at its epoch. To be called in the transaction of the act. */
export async function isLiving(
  db: Database,
  { id, userId, securityEpoch }: ActingSession,
  at: number,
  transaction: Transaction,
): Promise<boolean> {
  const living = { _id: id, userId, replaced: false, endsAt: { $gt: toDate(at) }, securityEpoch }
  return (await db.collection(SESSIONS).findOne(living, { session: transaction })) !== null
}

/** What is changed with an epoch. */
export interface Raise {
  readonly userId: string
  /** The epoch at which the change was decided; null: whatever it is. */
  readonly from: number | null
  /** Further conditions of the change. */
  readonly held?: mongoose.mongo.Filter<UserDocument>
  readonly set?: Partial<UserDocument>
  /** Given with a new password or factor: the one recognised browser that stays so, null for none. Absent: all stay. */
  readonly keepDevice?: string | null
  /** The session that goes on at the new epoch; null or absent: none. */
  readonly keepSession?: string | null
}

/**
 * Changes a person and raises their epoch: every session but `keepSession` and an authenticator that was not confirmed yet end with it, and
 * whatever was decided at the former epoch is refused. Open links for a new password end with a new password or factor; otherwise those
 * that still work move to the new epoch, so that who has a session alone cannot keep the owner from the mailed way back. The only place that raises an
 * epoch. Returns the new one, and how many log-ins ended; null, and nothing changed, when a condition does not hold.
 */
export async function raiseEpoch(
  db: Database,
  { userId, from, held = {}, set, keepDevice, keepSession = null }: Raise,
  transaction: Transaction,
): Promise<{ readonly epoch: number; readonly ended: number } | null> {
  const session = { session: transaction }
  const sessions = db.collection(SESSIONS)
  const raised = await db.collection(USERS).findOneAndUpdate(
    { _id: userId, ...(from !== null && { securityEpoch: from }), ...held },
    {
      $inc: { securityEpoch: 1 },
      $set: { pendingTotp: null, ...set },
      ...(keepDevice !== undefined && { $pull: { devices: { $nin: keepDevice === null ? [] : [keepDevice] } } }),
    },
    { ...session, returnDocument: 'after' },
  )
  if (raised === null) return null
  const epoch = raised.securityEpoch
  const others = { userId, ...(keepSession !== null && { _id: { $ne: keepSession } }) }
  const { deletedCount: ended } = await sessions.deleteMany({ ...others, replaced: false }, session)
  await sessions.deleteMany(others, session)
  if (keepSession !== null) await sessions.updateOne({ _id: keepSession }, { $set: { securityEpoch: epoch } }, session)
  const links = db.collection(PASSWORD_RESETS)
  if (keepDevice !== undefined) await links.deleteMany({ userId }, session)
  else await links.updateMany({ userId, securityEpoch: epoch - 1 }, { $set: { securityEpoch: epoch } }, session)
  return { epoch, ended }
}
