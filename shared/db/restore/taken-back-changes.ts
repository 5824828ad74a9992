import { INVITATIONS, MEMBERSHIPS } from '#shared/db/accounts/operator-models.ts'
import { raiseEpoch } from '#shared/db/accounts/security-epoch.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { WALLETS } from '#shared/db/wallets/wallet-models.ts'
import type { AuditRecord, AuditWrite } from '#shared/ports/audit.ts'
import { ROLES, type Role } from '#shared/ports/users.ts'

interface MemberRole {
  readonly workspaceId: string
  readonly userId: string
  readonly email: string
  /** Null = not a member. */
  readonly to: Role | null
}

/**
 * What a restored database takes back again, on MongoDB, where no use case exists for it: each change in one transaction with its audit row and mails, or
 * not at all when there is nothing to change.
 */
export function createTakenBackChanges(db: Database) {
  return {
    /** Nobody logs in with the former password, links that were mailed for a new one, or recognised browsers; with `factor` also not with the authenticator and its recovery codes. */
    voidLogIn: (
      userId: string,
      { passwordHash, factor }: { readonly passwordHash: string; readonly factor: boolean },
      write: AuditWrite,
    ) =>
      audited(db, write, async (session) => {
        const set = { passwordHash, ...(factor && { totp: null, recoveryHashes: [] }) }
        return (await raiseEpoch(db, { userId, from: null, set, keepDevice: null }, session)) !== null
      }),
    /** No recovery code of the person works. */
    voidRecoveryCodes: (userId: string, write: AuditWrite) =>
      audited(db, write, async (session) => {
        const held = { 'recoveryHashes.0': { $exists: true } }
        return (await raiseEpoch(db, { userId, from: null, held, set: { recoveryHashes: [] } }, session)) !== null
      }),
    /** Removes a member, or lowers their role, and closes the open invitations in that workspace that the person got or sent. */
    lowerRole: (member: MemberRole, audit: AuditRecord) => lowerRole(db, member, audit),
    /** The endpoint is paused, and its one secret is this one. */
    replaceSecrets: (endpointId: string, sealed: string, write: AuditWrite) =>
      audited(db, write, async (session) => {
        const at = toDate(write.audit.at)
        const set = { sealedSecrets: [sealed], formerSecrets: [], status: 'disabled' as const }
        const change = { $set: { ...set, disabledAt: at, updatedAt: at }, $unset: { rotatedBy: '' as const } }
        const replaced = await db.collection(WEBHOOK_ENDPOINTS).updateOne({ _id: endpointId }, change, { session })
        return replaced.matchedCount === 1
      }),
    /** Disables wallets until their workspace proves control. */
    displace: (walletIds: readonly string[], audit: AuditRecord) =>
      audited(db, audit, async (session) => {
        const at = toDate(audit.at)
        const held = { _id: { $in: [...walletIds] }, displacedAt: { $exists: false } }
        const change = { $set: { disabledAt: at, displacedAt: at } }
        return (await db.collection(WALLETS).updateMany(held, change, { session })).matchedCount > 0
      }),
  }
}

async function lowerRole(
  db: Database,
  { workspaceId, userId, email, to }: MemberRole,
  audit: AuditRecord,
): Promise<boolean> {
  return await audited(db, audit, async (session) => {
    const held = { workspaceId, userId, role: { $in: ROLES.slice(0, to === null ? ROLES.length : ROLES.indexOf(to)) } }
    const memberships = db.collection(MEMBERSHIPS)
    // Also the last owner: nobody keeps a right that was taken back because the archive lacks who had it since.
    const changed =
      to === null
        ? (await memberships.deleteOne(held, { session })).deletedCount
        : (await memberships.updateOne(held, { $set: { role: to } }, { session })).matchedCount
    // An invitation that was accepted since is open in the archive: it would give the role again.
    const open = { workspaceId, closed: null, $or: [{ email }, { inviterId: userId }] }
    const closed = { at: toDate(audit.at), as: 'withdrawn' as const }
    const invitations = await db.collection(INVITATIONS).updateMany(open, { $set: { closed } }, { session })
    return changed + invitations.matchedCount > 0
  })
}
