import { createHash } from 'node:crypto'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Invitation, InvitationRepository, MembershipRepository } from '#shared/ports/members.ts'
import type { Role, User } from '#shared/ports/users.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Deed } from '#shared/usecases/audit/deed.ts'
import { deedId } from '#shared/usecases/audit/operation-resource-id.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { validEmail } from '#shared/usecases/workspaces/valid-name.ts'
import { accountMail, kickMails } from './account-audit.ts'
import type { PeopleDeps } from './account-deps.ts'

const LIFE_MS = 7 * 86_400_000

/** What asking people into a workspace needs. */
export interface InviteDeps
  extends Pick<PeopleDeps, 'users' | 'clock' | 'random' | 'logger' | 'metrics' | 'secretBox' | 'kicker'> {
  readonly invitations: InvitationRepository
  readonly memberships: Pick<MembershipRepository, 'find'>
}

/**
 * Mails a person a link by which they join the workspace; it is good for seven days and for this address alone. The token is kept
 * as a digest, and sealed in the mail until it is sent. Sent twice it is one invitation. Throws `VALIDATION_ERROR` at `email` and `INVALID_STATE` for a member.
 */
export async function inviteMember(
  deps: InviteDeps,
  input: {
    readonly workspace: Pick<Workspace, 'id' | 'name'>
    readonly email: string
    readonly role: Role
    readonly inviter: Pick<User, 'id' | 'name'>
    /** Of the dashboard, without a slash at its end. */
    readonly publicUrl: string
    readonly deed: Deed
  },
): Promise<Invitation> {
  const { workspace, role, inviter, deed } = input
  const email = emailOf(input.email)
  const id = deedId('invitation', workspace.id, deed.opId)
  const stored = await deps.invitations.findById(id)
  if (stored !== null) return stored
  const person = await deps.users.findByEmail(email)
  if (person !== null && (await deps.memberships.find(workspace.id, person.id)) !== null) {
    throw new PaymeshError('INVALID_STATE', { message: `${email} is a member already.` })
  }
  const at = deps.clock.now()
  const token = Buffer.from(deps.random.bytes(32)).toString('base64url')
  const expiresAt = at + LIFE_MS
  const times = { createdAt: at, expiresAt, closed: null }
  const invitation = {
    id,
    workspaceId: workspace.id,
    email,
    role,
    tokenHash: tokenHashOf(token),
    invitedBy: inviter.name,
    inviterId: inviter.id,
  }
  const mail = accountMail(deps, 'member_invited', email, {
    workspace: workspace.name,
    inviter: inviter.name,
    role,
    expires: mailTime(expiresAt),
    url_sealed: '',
  })
  // Behind the # it is in no log of any server.
  const url_sealed = deps.secretBox.seal(`${input.publicUrl}/invitation#${token}`, `mail:${mail.id}`)
  const mails = [{ ...mail, workspaceId: workspace.id, data: { ...mail.data, url_sealed } }]
  const audit = memberAudit({ id, at }, 'member.invited', workspace.id, deed, { subject: id, email, role })
  await deps.invitations.insert({ ...invitation, ...times }, { audit, mails })
  kickMails(deps, mails)
  return (await deps.invitations.findById(id)) ?? { ...invitation, ...times }
}

/** Takes an open invitation back; repeating it changes nothing. `NOT_FOUND` for one of another workspace. */
export async function withdrawInvitation(
  deps: Pick<InviteDeps, 'invitations' | 'clock'>,
  { workspaceId, invitationId, deed }: { workspaceId: string; invitationId: string; deed: Deed },
): Promise<Invitation> {
  const found = await deps.invitations.findById(invitationId)
  if (found === null || found.workspaceId !== workspaceId) throw new PaymeshError('NOT_FOUND')
  const at = deps.clock.now()
  const about = { subject: invitationId, email: found.email }
  const id = `${invitationId}:withdrawn`
  await deps.invitations.withdraw(invitationId, at, {
    audit: memberAudit({ id, at }, 'member.invitation_withdrawn', workspaceId, deed, about),
  })
  const now = await deps.invitations.findById(invitationId)
  if (now?.closed?.as === 'accepted') {
    throw new PaymeshError('INVALID_STATE', {
      message: `${found.email} has joined already. Remove the member instead.`,
    })
  }
  return now ?? found
}

/** SHA-256 of an invitation's token. */
export function tokenHashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** The audit row of a deed on the people of a workspace; `subject` is taken out of the details. */
export function memberAudit(
  { id, at }: Pick<AuditRecord, 'id' | 'at'>,
  action: string,
  workspaceId: string,
  { actor, reason }: Pick<Deed, 'actor' | 'reason'>,
  { subject, ...detail }: { readonly subject: string; readonly [name: string]: string },
): AuditRecord {
  const why = reason === null ? {} : { reason }
  return { id, at, actor, action, subject, workspaceId, mode: null, detail: { ...detail, ...why } }
}

function emailOf(text: string): string {
  try {
    return validEmail(text)
  } catch {
    throw new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'email', message: 'Must be an e-mail address.' }] })
  }
}
