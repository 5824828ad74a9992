import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { Role } from '#shared/ports/users.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { memberAudit } from './invite-member.ts'

/**
 * Gives a member another role, or removes them (`to` null), from the next request on. `from` is the role the caller saw; a role that
 * already is `to` succeeds. Throws `NOT_FOUND` for people of other workspaces, and `INVALID_STATE` for the last owner and after a concurrent change.
 */
export async function changeMember(
  deps: Uses<'memberships' | 'users' | 'audits' | 'clock'>,
  input: {
    readonly workspaceId: string
    readonly userId: string
    readonly from: Role
    readonly to: Role | null
    readonly action: OperatorAction
  },
): Promise<void> {
  const { workspaceId, userId, from, to, action } = input
  const [member, user] = await Promise.all([deps.memberships.find(workspaceId, userId), deps.users.findById(userId)])
  const name = to === null ? 'member.removed' : 'member.role_changed'
  const row = { id: `${name}:${workspaceId}:${action.opId}`, at: deps.clock.now() }
  if (member === null && (await deps.audits.isRecorded(row.id, userId))) return
  if (member === null || user === null) throw new PaymeshError('NOT_FOUND')
  if (member.role === to) return
  const about = { subject: userId, email: user.email, from, to: to ?? 'none' }
  const audit = memberAudit(row, name, workspaceId, action, about)
  const outcome = await deps.memberships.change({ workspaceId, userId }, from, to, { audit })
  if (outcome === 'last_owner') {
    const message = `${user.email} is the last owner. Make someone else an owner first.`
    throw invalidState(message)
  }
  if (outcome === 'done') return
  const now = await deps.memberships.find(workspaceId, userId)
  if ((now?.role ?? null) === to) return
  const message = `The role of ${user.email} was changed by someone else: now ${now?.role ?? 'removed'}. No changes were made.`
  throw invalidState(message)
}
