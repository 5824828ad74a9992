import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import { PASSWORD_RESETS, type PasswordReset } from './operator-models.ts'
import { raiseEpoch } from './security-epoch.ts'

/** Links on MongoDB. Two requests at once take different places: the unique `_id` is the claim. */
export function createPasswordResets(db: Database) {
  const rows = db.collection(PASSWORD_RESETS)
  const take = async (place: string, reset: PasswordReset, at: number, auditWrite: Parameters<typeof audited>[1]) => {
    // An expired row that the store has not removed yet is a free place.
    const free = { _id: place, expiresAt: { $lte: toDate(at) } }
    const change = { $set: PASSWORD_RESETS.toDocument(reset) }
    let isStored = false
    await unlessTaken(async () => {
      isStored = await insertAudited(db, auditWrite, (within) =>
        rows.updateOne(free, change, { upsert: true, ...within }),
      )
    })
    return isStored
  }
  return {
    /**
     * Stores a link with its audit row and mail; false, and nothing at all, when the person has `max` that have not expired at `at`. A new
     * password or factor removes the links, so that void ones take no place.
     */
    insert: async (reset: PasswordReset, max: number, at: Ms, auditWrite: AuditWrite): Promise<boolean> => {
      for (let place = 0; place < max; place += 1) {
        if (await take(`${reset.userId}:${place}`, reset, at, auditWrite)) return true
      }
      return false
    },
    /** The link of a token; null when it is unknown, used or removed. It may have expired. */
    findByTokenHash: async (tokenHash: string): Promise<PasswordReset | null> =>
      PASSWORD_RESETS.toRecord(await rows.findOne({ tokenHash })),
    /**
     * Uses a link: replaces the password, raises the epoch, ends every session, forgets every recognised browser and removes all links of the
     * person, with the audit row and the mails, in one transaction. False, and nothing changed, when the link was used or has expired at
     * `at`, or the person's epoch was raised since.
     */
    complete: async (
      { userId, tokenHash, securityEpoch }: Pick<PasswordReset, 'userId' | 'tokenHash' | 'securityEpoch'>,
      { passwordHash, at }: { readonly passwordHash: string; readonly at: Ms },
      auditWrite: AuditWrite,
    ): Promise<boolean> =>
      await audited(db, auditWrite, async (session) => {
        const open = { tokenHash, userId, securityEpoch, expiresAt: { $gt: toDate(at) } }
        if ((await rows.deleteOne(open, { session })).deletedCount === 0) return false
        const raise = { userId, from: securityEpoch, set: { passwordHash }, keepDevice: null }
        return (await raiseEpoch(db, raise, session)) !== null
      }),
  }
}
