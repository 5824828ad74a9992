import { invalidField, invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Invitation } from '#shared/ports/invitations.ts'
import type { Role, User } from '#shared/ports/users.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { derivedUuid, reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { validEmail } from '#shared/usecases/workspaces/valid-name.ts'
import { linkMail, notifyMailer } from './account-audit.ts'
import type { PeopleDeps } from './account-deps.ts'
import { newToken } from './operator-sessions.ts'

const LIFE_MS = 7 * 86_400_000

/** Dependencies of inviting people into a workspace. */
export type InviteDeps = Pick<
  PeopleDeps,
  'users' | 'clock' | 'random' | 'logger' | 'metrics' | 'secretBox' | 'notifier'
> &
  Uses<'invitations' | 'memberships'>

/**
 * Mails a person a link for joining the workspace, valid for seven days and for this address only. The token is stored
 * as a digest, and encrypted in the mail until it is sent. Repeating the call creates no second invitation. Throws `VALIDATION_ERROR` at `email` and `INVALID_STATE` for a member.
 */
export async function inviteMember(
  deps: InviteDeps,
  input: {
    readonly workspace: Pick<Workspace, 'id' | 'name'>
    readonly email: string
    readonly role: Role
    readonly inviter: Pick<User, 'id' | 'name'>
    /** URL of the dashboard, without a trailing slash. */
    readonly publicUrl: string
    readonly action: OperatorAction
  },
): Promise<Invitation> {
  const { workspace, role, inviter, action } = input
  const email = emailOf(input.email)
  const id = derivedUuid('invitation', workspace.id, action.opId)
  const stored = await deps.invitations.findById(id)
  if (stored !== null) return stored
  const person = await deps.users.findByEmail(email)
  if (person !== null && (await deps.memberships.find(workspace.id, person.id)) !== null) {
    throw invalidState(`${email} is already a member.`)
  }
  const at = deps.clock.now()
  const { token, hash: tokenHash } = newToken(deps.random)
  const expiresAt = at + LIFE_MS
  const times = { createdAt: at, expiresAt, closed: null }
  const invitation = {
    id,
    workspaceId: workspace.id,
    email,
    role,
    tokenHash,
    invitedBy: inviter.name,
    inviterId: inviter.id,
  }
  const facts = { workspace: workspace.name, inviter: inviter.name, role, expires: mailTime(expiresAt) }
  const mail = linkMail(deps, 'member_invited', email, facts, `${input.publicUrl}/invitation#${token}`)
  const mails = [{ ...mail, workspaceId: workspace.id }]
  const audit = memberAudit({ id, at }, 'member.invited', workspace.id, action, { subject: id, email, role })
  await deps.invitations.insert({ ...invitation, ...times }, { audit, mails })
  notifyMailer(deps, mails)
  return (await deps.invitations.findById(id)) ?? { ...invitation, ...times }
}

/** Withdraws an open invitation; repeating it changes nothing. `NOT_FOUND` for one of another workspace. */
export async function withdrawInvitation(
  deps: Pick<InviteDeps, 'invitations' | 'clock'>,
  { workspaceId, invitationId, action }: { workspaceId: string; invitationId: string; action: OperatorAction },
): Promise<Invitation> {
  const found = await deps.invitations.findById(invitationId)
  if (found === null || found.workspaceId !== workspaceId) throw new PaymeshError('NOT_FOUND')
  const at = deps.clock.now()
  const about = { subject: invitationId, email: found.email }
  const id = `${invitationId}:withdrawn`
  await deps.invitations.withdraw(invitationId, at, {
    audit: memberAudit({ id, at }, 'member.invitation_withdrawn', workspaceId, action, about),
  })
  const now = await deps.invitations.findById(invitationId)
  if (now?.closed?.as === 'accepted') {
    throw invalidState(`${found.email} has already joined. Remove the member instead.`)
  }
  return now ?? found
}

/** The audit row of an action on the members of a workspace; `subject` is moved out of the details. */
export function memberAudit(
  { id, at }: Pick<AuditRecord, 'id' | 'at'>,
  action: AuditAction,
  workspaceId: string,
  { actor, reason }: Pick<OperatorAction, 'actor' | 'reason'>,
  { subject, ...detail }: { readonly subject: string; readonly [name: string]: string },
): AuditRecord {
  return { id, at, actor, action, subject, workspaceId, mode: null, detail: { ...detail, ...reasonOf({ reason }) } }
}

function emailOf(text: string): string {
  try {
    return validEmail(text)
  } catch {
    throw invalidField('email', 'Must be an email address.')
  }
}
