import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import { INVITER_ROLE, type Invitation } from '#shared/ports/invitations.ts'
import type { ActingSession, User } from '#shared/ports/users.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { validName } from '#shared/usecases/workspaces/valid-name.ts'
import type { PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'
import { memberAudit } from './invite-member.ts'
import { completeLogIn, type LoggedIn } from './log-in.ts'
import { evaluateSlowly, type LoginTry, SOURCE_DELAY } from './login-throttle.ts'
import { loggedOut, tokenHashOf } from './operator-sessions.ts'

/** Dependencies of joining a workspace. */
export type AcceptDeps = PeopleDeps & Uses<'memberships' | 'invitations' | 'workspaces'>

/**
 * Reads the invitation behind a link, with its workspace; `person` is not null when the invited person already has an account and must log in before they accept. Unknown, used, withdrawn and expired tokens all throw `NOT_FOUND`; `INVALID_STATE` means that
 * the inviter is no longer allowed to invite.
 */
export async function readInvitation(
  deps: AcceptDeps,
  { token, origin, signal = null }: LoginTry & { readonly token: string },
) {
  const key = `invitation:${origin.group}`
  const place = { lane: key, counters: [{ key, delay: SOURCE_DELAY }] }
  const find = () => deps.invitations.findByTokenHash(tokenHashOf(token))
  const invitation = requireOpen(deps, await evaluateSlowly(deps, place, find, signal))
  const workspace = await deps.workspaces.findById(invitation.workspaceId)
  if (workspace === null) throw gone()
  const inviter = await deps.memberships.find(invitation.workspaceId, invitation.inviterId)
  if (inviter?.role !== INVITER_ROLE) throw inviterGone()
  const person = await deps.users.findByEmail(invitation.email)
  // Accepting closes the invitation and creates the person together: one who accepted it just now must not be asked to log in.
  if (person !== null) requireOpen(deps, await find())
  return { invitation, workspace, person }
}

function requireOpen({ clock }: AcceptDeps, invitation: Invitation | null): Invitation {
  if (invitation?.closed?.as === 'void') throw inviterGone()
  if (invitation === null || invitation.closed !== null || invitation.expiresAt <= clock.now()) throw gone()
  return invitation
}

/**
 * Joins the workspace. A new person chooses name and password and is logged in; an existing person must be logged in as the invitee
 * (`INVALID_STATE` otherwise; `UNAUTHENTICATED` when that session ends first), and the result is null. Throws `INVALID_STATE` when the inviter is no longer allowed to invite, also
 * when they lose the right concurrently.
 */
export async function acceptInvitation(
  deps: AcceptDeps,
  input: LoginTry & {
    readonly token: string
    readonly name: string | null
    readonly password: string | null
    readonly session: ActingSession | null
  },
): Promise<{ readonly workspaceId: string; readonly loggedIn: LoggedIn | null }> {
  const { invitation, person } = await readInvitation(deps, input)
  const session = person !== null && input.session?.userId === person.id ? input.session : null
  if (person !== null && session === null) {
    throw invalidState(`Log in as ${person.email} first, then open the link again.`)
  }
  const user = person ?? (await newUserOf(deps, invitation, input))
  const at = deps.clock.now()
  const action = { actor: `user:${user.email}`, reason: null }
  const about = { subject: user.id, email: user.email, role: invitation.role, invitation_id: invitation.id }
  const id = `${invitation.id}:accepted`
  const audit = memberAudit({ id, at }, 'member.joined', invitation.workspaceId, action, about)
  const outcome = await deps.invitations.accept(invitation, { member: session ?? user, at }, { audit })
  if (outcome === 'logged_out') throw loggedOut()
  if (outcome !== 'accepted') throw outcome === 'void' ? inviterGone() : gone()
  const by = { origin: input.origin, secondFactor: 'none', by: 'invitation' } as const
  const loggedIn = session === null ? await completeLogIn(deps, user, by) : null
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
  const nothing = { totp: null, pendingTotp: null, recoveryHashes: [], devices: [], securityEpoch: 0 }
  return { id: random.uuid(), ...facts, ...nothing, createdAt: clock.now() }
}

function inviterGone(): PaymeshError {
  const message =
    'The person who invited you can no longer invite people to this workspace. Ask an owner for a new invitation.'
  return invalidState(message)
}

function gone(): PaymeshError {
  const message = 'This invitation is no longer valid. Ask for a new one.'
  return new PaymeshError('NOT_FOUND', { message })
}
