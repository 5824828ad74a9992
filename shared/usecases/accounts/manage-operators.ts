import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { Role, User } from '#shared/ports/users.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { validEmail, validName } from '#shared/usecases/workspaces/valid-name.ts'
import { newUser } from './accept-invitation.ts'
import { accountAudit, changedMail } from './account-audit.ts'
import type { PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'
import { readableText } from './operator-sessions.ts'

/** Dependencies of managing users from the command line. */
export type ManageOperatorsDeps = Pick<PeopleDeps, 'users' | 'passwords' | 'clock' | 'random'> & Uses<'memberships'>

/** A generated password: four groups of five characters, 100 random bits. */
export function newPassword({ random }: Pick<PeopleDeps, 'random'>): string {
  return (readableText(random, 20).match(/.{5}/g) ?? []).join('-')
}

/** Creates a user, and a membership if a workspace is given. `INVALID_STATE` when the address already has an account. */
export async function createOperator(
  deps: ManageOperatorsDeps,
  input: {
    readonly email: string
    readonly name: string
    readonly password: string
    /** May see and change the whole installation. */
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
    throw invalidState(`${email} already has an account.`)
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

/**
 * Gives a person a new password, ends all their sessions and forgets their browsers; a mail informs them, without the password. `NOT_FOUND` for an unknown
 * address.
 */
export async function resetPassword(
  deps: ManageOperatorsDeps,
  { email, password, actor }: { readonly email: string; readonly password: string; readonly actor: string },
): Promise<User> {
  const user = await byEmail(deps, email)
  checkPassword(password, user.email)
  const audit = accountAudit(deps, actor, 'operator.password_reset', user.id, { email: user.email })
  const mails = [resetMail(deps, user, 'Your password was reset')]
  await deps.users.setPassword({ operatorOn: user.id }, await deps.passwords.hash(password), { audit, mails })
  return user
}

/**
 * Removes a lost authenticator, ends all sessions and forgets the person's browsers; a mail informs the person. Returns false if there is none; then nothing is
 * changed or mailed. `NOT_FOUND` for an unknown address.
 */
export async function resetAuthenticator(
  deps: ManageOperatorsDeps,
  { email, actor }: { readonly email: string; readonly actor: string },
): Promise<boolean> {
  const user = await byEmail(deps, email)
  const audit = accountAudit(deps, actor, 'operator.authenticator_reset', user.id, { email: user.email })
  const mails = [resetMail(deps, user, 'Your authenticator was removed')]
  return (await deps.users.removeTotp({ operatorOn: user.id }, { audit, mails })) !== null
}

/** The mailer finds the mail without a wake-up, so that a reset needs no Redis. */
function resetMail(deps: ManageOperatorsDeps, { email }: User, what: string) {
  return changedMail(deps, email, `${what} from the command line of the installation. All your log-ins have ended.`)
}

async function byEmail({ users }: ManageOperatorsDeps, email: string): Promise<User> {
  const user = await users.findByEmail(validEmail(email))
  if (user === null) throw new PaymeshError('NOT_FOUND', { message: `There is no account for ${email}.` })
  return user
}
