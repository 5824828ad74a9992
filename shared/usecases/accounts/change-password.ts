import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { ActingSession } from '#shared/ports/users.ts'
import { accountAudit, changedMail, notifyMailer } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'
import { checkOwnPassword } from './enrol-authenticator.ts'
import { knownBrowser, NO_BROWSER } from './log-in.ts'
import { loggedOut, newSession, newToken } from './operator-sessions.ts'
import { personOf } from './second-factor.ts'

/**
 * Replaces a person's password and ends every session before it resolves; the calling session continues under a new token, without
 * the right to dangerous actions, and its browser is the only one that stays recognised. Throws `VALIDATION_ERROR` at `password` (the
 * current one) or `next`, and `UNAUTHENTICATED`, with nothing changed, when the calling session ended before the change was stored.
 */
export async function changePassword(
  deps: PeopleDeps,
  who: Pick<OperatorSession, keyof ActingSession | 'loginId' | 'secondFactor'>,
  { password, next, origin }: { readonly password: string; readonly next: string; readonly origin: Origin },
): Promise<{ readonly token: string }> {
  const user = await personOf(deps, who)
  await checkOwnPassword(deps, user, password, who)
  checkPassword(next, user.email, 'next')
  const at = deps.clock.now()
  const mails = [changedMail(deps, user.email, 'The password was changed.')]
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.password_changed', user.id, { ip: origin.ip })
  const passwordHash = await deps.passwords.hash(next)
  const by = { session: who, keepDevice: knownBrowser(deps, user, origin.device) }
  const securityEpoch = await deps.users.setPassword(by, passwordHash, { audit, mails })
  if (securityEpoch === null) throw loggedOut()
  notifyMailer(deps, mails)
  const { token, hash: id } = newToken(deps.random)
  const { ip, userAgent } = origin
  const facts = { loginId: deps.random.uuid(), secondFactor: who.secondFactor, steppedUpUntil: null, ip, userAgent }
  const auditWrite = {
    audit: accountAudit(deps, `user:${user.email}`, 'auth.logged_in', user.id, { by: 'new_password' }),
  }
  const session = newSession(id, { id: user.id, securityEpoch }, facts, at)
  if (!(await deps.sessions.begin(session, NO_BROWSER, auditWrite))) throw loggedOut()
  return { token }
}
