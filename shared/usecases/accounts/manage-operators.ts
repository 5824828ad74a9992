import { PaymeshError } from '#shared/contracts/errors.ts'
import type { MembershipRepository } from '#shared/ports/members.ts'
import type { Role, User } from '#shared/ports/users.ts'
import { validEmail, validName } from '#shared/usecases/workspaces/valid-name.ts'
import { newUser } from './accept-invitation.ts'
import { accountAudit } from './account-audit.ts'
import type { PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'

/** What making and mending log-ins from the command line needs. */
export interface ManageOperatorsDeps extends Pick<PeopleDeps, 'users' | 'passwords' | 'clock' | 'random'> {
  readonly memberships: Pick<MembershipRepository, 'add'>
}

const BASE_32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** A password that a machine made: four groups of five, 100 random bits. */
export function newPassword({ random }: Pick<PeopleDeps, 'random'>): string {
  const text = [...random.bytes(20)].map((byte) => BASE_32.charAt(byte & 31)).join('')
  return (text.match(/.{5}/g) ?? []).join('-')
}

/** Makes a person who can log in, with a place in a workspace where one is given. `INVALID_STATE` when the address has one already. */
export async function createOperator(
  deps: ManageOperatorsDeps,
  input: {
    readonly email: string
    readonly name: string
    readonly password: string
    /** May see and do what concerns the whole installation. */
    readonly isOperator: boolean
    readonly member: { readonly workspaceId: string; readonly role: Role } | null
    readonly actor: string
  },
): Promise<User> {
  const email = validEmail(input.email)
  checkPassword(input.password, email)
  const passwordHash = await deps.passwords.hash(input.password)
  const user = newUser(deps, { email, name: validName(input.name), passwordHash, isOperator: input.isOperator })
  const audit = accountAudit(deps, input.actor, 'operator.created', user.id, { email, is_operator: input.isOperator })
  if (!(await deps.users.insert(user, { audit }))) {
    throw new PaymeshError('INVALID_STATE', { message: `${email} can log in already.` })
  }
  if (input.member !== null) {
    const { workspaceId, role } = input.member
    const joined = accountAudit(deps, input.actor, 'member.joined', user.id, { email, role })
    await deps.memberships.add(
      { workspaceId, userId: user.id, role, since: deps.clock.now() },
      { audit: { ...joined, workspaceId } },
    )
  }
  return user
}

/** Gives a person a new password and ends all their sessions. `NOT_FOUND` for an unknown address. */
export async function resetPassword(
  deps: ManageOperatorsDeps,
  { email, password, actor }: { readonly email: string; readonly password: string; readonly actor: string },
): Promise<User> {
  const user = await byEmail(deps, email)
  checkPassword(password, user.email)
  const audit = accountAudit(deps, actor, 'operator.password_reset', user.id, { email: user.email })
  await deps.users.setPassword(user.id, null, await deps.passwords.hash(password), { audit })
  return user
}

/** Takes a lost authenticator away and ends all sessions; false when there is none. `NOT_FOUND` for an unknown address. */
export async function resetAuthenticator(
  deps: ManageOperatorsDeps,
  { email, actor }: { readonly email: string; readonly actor: string },
): Promise<boolean> {
  const user = await byEmail(deps, email)
  const audit = accountAudit(deps, actor, 'operator.authenticator_reset', user.id, { email: user.email })
  return await deps.users.removeTotp(user.id, null, { audit })
}

async function byEmail({ users }: ManageOperatorsDeps, email: string): Promise<User> {
  const user = await users.findByEmail(validEmail(email))
  if (user === null) throw new PaymeshError('NOT_FOUND', { message: `Nobody logs in as ${email}.` })
  return user
}
