import { PaymeshError } from '#shared/contracts/errors.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { accountAudit, accountMail, kickMails } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'
import { checkOwnPassword } from './enrol-authenticator.ts'
import { newSession, newSessionToken } from './operator-sessions.ts'
import { personOf } from './second-factor.ts'

/**
 * Replaces a person's password. Every session has ended when it resolves; the one that asked goes on under a new token, without
 * the right to dangerous deeds. Throws `VALIDATION_ERROR` at `password` (the current one) or `next`.
 */
export async function changePassword(
  deps: PeopleDeps,
  who: Pick<OperatorSession, 'userId' | 'loginId' | 'secondFactor'>,
  { password, next, origin }: { readonly password: string; readonly next: string; readonly origin: Origin },
): Promise<{ readonly token: string }> {
  const user = await personOf(deps, who)
  await checkOwnPassword(deps, user, password, who)
  checkPassword(next, user.email, 'next')
  const at = deps.clock.now()
  const data = { email: user.email, time: mailTime(at), what: 'The password was changed.' }
  const mails = [accountMail(deps, 'account_changed', user.email, data)]
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.password_changed', user.id, { ip: origin.ip })
  const passwordHash = await deps.passwords.hash(next)
  if (!(await deps.users.setPassword(user.id, user.passwordHash, passwordHash, { audit, mails }))) {
    throw new PaymeshError('INVALID_STATE', { message: 'The password was changed elsewhere in this moment.' })
  }
  kickMails(deps, mails)
  const { token, id } = newSessionToken(deps.random)
  const { ip, userAgent } = origin
  const facts = { loginId: deps.random.uuid(), secondFactor: who.secondFactor, steppedUpUntil: null, ip, userAgent }
  const noted = { audit: accountAudit(deps, `user:${user.email}`, 'auth.logged_in', user.id, { by: 'new_password' }) }
  await deps.sessions.begin(newSession(id, user, facts, at), null, noted)
  return { token }
}
