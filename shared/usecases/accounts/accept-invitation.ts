import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AuditRepository } from '#shared/ports/audit.ts'
import {
  INVITER_ROLE,
  type Invitation,
  type InvitationRepository,
  type MembershipRepository,
} from '#shared/ports/members.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { User } from '#shared/ports/users.ts'
import type { Workspace, WorkspaceRepository } from '#shared/ports/workspaces.ts'
import { validName } from '#shared/usecases/workspaces/valid-name.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'
import { memberAudit, tokenHashOf } from './invite-member.ts'
import { completeLogIn, type LoggedIn } from './log-in.ts'
import { judgeSlowly, SOURCE_DELAY } from './login-throttle.ts'

/** What joining a workspace needs. */
export interface AcceptDeps extends PeopleDeps {
  readonly audits: PeopleDeps['audits'] & Pick<AuditRepository, 'listBySubject'>
  readonly memberships: PeopleDeps['memberships'] & Pick<MembershipRepository, 'find'>
  readonly invitations: Pick<InvitationRepository, 'findByTokenHash' | 'accept'>
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
}

/** An invitation that can be accepted, with its workspace. */
export interface OpenInvitation {
  readonly invitation: Invitation
  readonly workspace: Workspace
  /** The invited person can log in already, and must, before they accept. */
  readonly person: User | null
  /** Who invited, and may still invite. */
  readonly inviterId: string
}

/**
 * What a link leads to. Unknown, used, withdrawn and expired tokens are the same `NOT_FOUND`; `INVALID_STATE` says that the person who
 * invited may not invite any more.
 */
export async function readInvitation(deps: AcceptDeps, token: string, group: string): Promise<OpenInvitation> {
  const key = `invitation:${group}`
  const place = { lane: key, counters: [{ key, delay: SOURCE_DELAY }] }
  const invitation = await judgeSlowly(deps, place, () => deps.invitations.findByTokenHash(tokenHashOf(token)))
  if (invitation?.closed?.as === 'void') throw inviterGone()
  const isOpen = invitation !== null && invitation.closed === null && invitation.expiresAt > deps.clock.now()
  const workspace = isOpen ? await deps.workspaces.findById(invitation.workspaceId) : null
  if (invitation === null || workspace === null) throw gone()
  const inviterId = await inviterOf(deps, invitation)
  if (inviterId === null) throw inviterGone()
  return { invitation, workspace, person: await deps.users.findByEmail(invitation.email), inviterId }
}

/** The inviter while they may invite. An invitation that does not name its inviter has an audit row that does. */
async function inviterOf(deps: AcceptDeps, { id, workspaceId, inviterId }: Invitation): Promise<string | null> {
  const userId = inviterId ?? (await recordedInviter(deps, id))
  if (userId === null) return null
  const inviter = await deps.memberships.find(workspaceId, userId)
  return inviter?.role === INVITER_ROLE ? userId : null
}

async function recordedInviter({ audits, users }: AcceptDeps, invitationId: string): Promise<string | null> {
  const row = (await audits.listBySubject(invitationId)).find(({ action }) => action === 'member.invited')
  const email = row?.actor.startsWith('user:') ? row.actor.slice('user:'.length) : null
  return email === null ? null : ((await users.findByEmail(email))?.id ?? null)
}

/**
 * Joins the workspace. A new person chooses name and password and is logged in; a person who exists must be logged in as the one
 * who was invited (`INVALID_STATE` otherwise), and null is answered. Void when the inviter may not invite any more, also when that
 * happens at the same moment.
 */
export async function acceptInvitation(
  deps: AcceptDeps,
  input: {
    readonly token: string
    readonly name: string | null
    readonly password: string | null
    readonly session: Pick<OperatorSession, 'userId'> | null
    readonly origin: Origin
  },
): Promise<{ readonly workspaceId: string; readonly loggedIn: LoggedIn | null }> {
  const { invitation, person, inviterId } = await readInvitation(deps, input.token, input.origin.group)
  if (person !== null && input.session?.userId !== person.id) {
    throw new PaymeshError('INVALID_STATE', { message: `Log in as ${person.email} first, then open the link again.` })
  }
  const newUser = person === null ? await newUserOf(deps, invitation, input) : null
  const user = person ?? newUser
  if (user === null) throw gone()
  const at = deps.clock.now()
  const deed = { actor: `user:${user.email}`, reason: null }
  const about = { subject: user.id, email: user.email, role: invitation.role, invitation_id: invitation.id }
  const id = `${invitation.id}:accepted`
  const audit = memberAudit({ id, at }, 'member.joined', invitation.workspaceId, deed, about)
  const outcome = await deps.invitations.accept(invitation, { userId: user.id, newUser, inviterId, at }, { audit })
  if (outcome !== 'accepted') throw outcome === 'void' ? inviterGone() : gone()
  const by = { origin: input.origin, secondFactor: 'none', by: 'invitation' } as const
  const loggedIn = newUser === null ? null : await completeLogIn(deps, newUser, by)
  return { workspaceId: invitation.workspaceId, loggedIn }
}

async function newUserOf(
  deps: AcceptDeps,
  { email }: Invitation,
  { name, password }: { readonly name: string | null; readonly password: string | null },
): Promise<User> {
  const validatedName = validName(name ?? '')
  checkPassword(password ?? '', email)
  const passwordHash = await deps.passwords.hash(password ?? '')
  return newUser(deps, { email, name: validatedName, passwordHash, isOperator: false })
}

/** A person without an authenticator. */
export function newUser(
  { random, clock }: Pick<PeopleDeps, 'random' | 'clock'>,
  facts: Pick<User, 'email' | 'name' | 'passwordHash' | 'isOperator'>,
): User {
  const nothing = { totp: null, pendingTotp: null, recoveryHashes: [], devices: [] }
  return { id: random.uuid(), ...facts, ...nothing, createdAt: clock.now() }
}

function inviterGone(): PaymeshError {
  const message =
    'The person who invited you may not invite people to this workspace any more. Ask an owner for a new invitation.'
  return new PaymeshError('INVALID_STATE', { message })
}

function gone(): PaymeshError {
  const message = 'This invitation is not open any more. Ask for a new one.'
  return new PaymeshError('NOT_FOUND', { message })
}
