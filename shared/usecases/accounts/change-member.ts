import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AuditRepository } from '#shared/ports/audit.ts'
import type { MembershipRepository } from '#shared/ports/members.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { Role, UserRepository } from '#shared/ports/users.ts'
import type { Deed } from '#shared/usecases/audit/deed.ts'
import { memberAudit } from './invite-member.ts'

/** What changing somebody's place needs. */
export interface ChangeMemberDeps {
  readonly memberships: Pick<MembershipRepository, 'find' | 'change'>
  readonly users: Pick<UserRepository, 'findById'>
  readonly audits: Pick<AuditRepository, 'listBySubject'>
  readonly clock: Clock
}

/**
 * Gives a member another role, or none (`to` null), from the next request on. `from` is the role that was seen. What is so
 * already stays so. Throws `NOT_FOUND` for people of other workspaces, and `INVALID_STATE` for the last owner and when somebody else changed the role meanwhile.
 */
export async function changeMember(
  deps: ChangeMemberDeps,
  input: {
    readonly workspaceId: string
    readonly userId: string
    readonly from: Role
    readonly to: Role | null
    readonly deed: Deed
  },
): Promise<void> {
  const { workspaceId, userId, from, to, deed } = input
  const [member, user] = await Promise.all([deps.memberships.find(workspaceId, userId), deps.users.findById(userId)])
  const action = to === null ? 'member.removed' : 'member.role_changed'
  const row = { id: `${action}:${workspaceId}:${deed.opId}`, at: deps.clock.now() }
  if (member === null && (await deps.audits.listBySubject(userId)).some(({ id }) => id === row.id)) return
  if (member === null || user === null) throw new PaymeshError('NOT_FOUND')
  if (member.role === to) return
  const about = { subject: userId, email: user.email, from, to: to ?? 'none' }
  const audit = memberAudit(row, action, workspaceId, deed, about)
  const outcome = await deps.memberships.change({ workspaceId, userId }, from, to, { audit })
  if (outcome === 'last_owner') {
    const message = `${user.email} is the last owner. Make somebody else an owner first.`
    throw new PaymeshError('INVALID_STATE', { message })
  }
  if (outcome === 'done') return
  const now = await deps.memberships.find(workspaceId, userId)
  if ((now?.role ?? null) === to) return
  const message = `The role of ${user.email} was changed elsewhere: now ${now?.role ?? 'removed'}. Nothing was done.`
  throw new PaymeshError('INVALID_STATE', { message })
}
