import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { PasswordReset, PasswordResets } from '#shared/ports/password-resets.ts'
import { PASSWORD_RESETS } from './operator-models.ts'
import { raiseEpoch } from './security-epoch.ts'

/** Links on MongoDB. Two requests at once take different places: the unique `_id` is the claim. */
export function createPasswordResets(db: Database): PasswordResets {
  const rows = db.collection(PASSWORD_RESETS)
  const take = async (place: string, reset: PasswordReset, at: number, auditWrite: Parameters<typeof audited>[1]) => {
    // An expired row that the store has not removed yet is a free place.
    const free = { _id: place, expiresAt: { $lte: toDate(at) } }
    const change = { $set: PASSWORD_RESETS.toDocument(reset) }
    try {
      return await audited(db, auditWrite, async (session) => {
        await rows.updateOne(free, change, { upsert: true, session })
        return true
      })
    } catch (error) {
      if (duplicateKeyFields(error) === null) throw error
      return false
    }
  }
  return {
    insert: async (reset, max, at, auditWrite) => {
      for (let place = 0; place < max; place += 1) {
        if (await take(`${reset.userId}:${place}`, reset, at, auditWrite)) return true
      }
      return false
    },
    findByTokenHash: async (tokenHash) => PASSWORD_RESETS.toRecord(await rows.findOne({ tokenHash })),
    complete: async ({ userId, tokenHash, securityEpoch }, { passwordHash, at }, auditWrite) =>
      await audited(db, auditWrite, async (session) => {
        const open = { tokenHash, userId, securityEpoch, expiresAt: { $gt: toDate(at) } }
        if ((await rows.deleteOne(open, { session })).deletedCount === 0) return false
        const raise = { userId, from: securityEpoch, set: { passwordHash }, keepDevice: null }
        return (await raiseEpoch(db, raise, session)) !== null
      }),
  }
}
