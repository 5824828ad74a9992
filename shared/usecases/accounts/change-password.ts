import { PaymeshError } from '#shared/contracts/errors.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { accountAudit, accountMail, notifyMailer } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'
import { checkOwnPassword } from './enrol-authenticator.ts'
import { newSession, newSessionToken } from './operator-sessions.ts'
import { personOf } from './second-factor.ts'

/**
 * Replaces a person's password and ends every session before it resolves; the calling session continues under a new token, without
 * the right to dangerous actions. Throws `VALIDATION_ERROR` at `password` (the current one) or `next`.
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
    throw new PaymeshError('INVALID_STATE', { message: 'The password was changed elsewhere at the same time.' })
  }
  notifyMailer(deps, mails)
  const { token, id } = newSessionToken(deps.random)
  const { ip, userAgent } = origin
  const facts = { loginId: deps.random.uuid(), secondFactor: who.secondFactor, steppedUpUntil: null, ip, userAgent }
  const auditWrite = {
    audit: accountAudit(deps, `user:${user.email}`, 'auth.logged_in', user.id, { by: 'new_password' }),
  }
  await deps.sessions.begin(newSession(id, { id: user.id, passwordHash }, facts, at), null, auditWrite)
  return { token }
}
