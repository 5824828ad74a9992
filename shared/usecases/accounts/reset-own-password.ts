import { PaymeshError, tooMany } from '#shared/contracts/errors.ts'
import type { LoginAttempts } from '#shared/db/accounts/login-attempts.ts'
import type { PasswordReset } from '#shared/db/accounts/operator-models.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { User } from '#shared/ports/users.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { accountAudit, changedMail, failureAudit, linkMail, notifyMailer } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { checkPassword } from './check-password.ts'
import { evaluateSlowly, type LoginTry, SOURCE_DELAY } from './login-throttle.ts'
import { newToken, tokenHashOf } from './operator-sessions.ts'

/** How long a link works. */
export const RESET_LIFE_MS = 30 * 60_000
/** Links of one person that work at a time: a stranger who requests links in an owner's name leaves the owner with links that work. */
export const RESETS_MAX = 3
/** Every answer comes this long after the question, whether there is an account or not. */
const ANSWER_AFTER_MS = 1_000
/** Questions of one source; an office may share one. */
const SOURCE_LIMIT = SCARCE.resetRequests.budget

/** Dependencies of a person who forgot the password. */
export type ResetDeps = PeopleDeps &
  Uses<'resets'> & {
    readonly attempts: LoginAttempts
  }

/**
 * Mails a link to the person of an address. An unknown address, and a person who has enough links, get the same answer after the same
 * time. Throws `RATE_LIMITED` by source alone, so that a stranger cannot block the requests of another person.
 */
export async function requestPasswordReset(
  deps: ResetDeps,
  // `publicUrl`: of the dashboard, without a trailing slash.
  input: { readonly email: string; readonly origin: Origin; readonly publicUrl: string },
): Promise<void> {
  const { waitMs } = await deps.attempts.begin(`reset:${input.origin.group}`, SOURCE_LIMIT, deps.clock.now())
  if (waitMs > 0) throw tooMany('requests', waitMs)
  const wait = new Promise<void>((resolve) => void deps.after(ANSWER_AFTER_MS, resolve))
  const [outcome] = await Promise.allSettled([sendLink(deps, input), wait])
  if (outcome.status === 'rejected') throw outcome.reason
}

async function sendLink(
  deps: ResetDeps,
  { email, origin, publicUrl }: { readonly email: string; readonly origin: Origin; readonly publicUrl: string },
): Promise<void> {
  const user = await deps.users.findByEmail(email.trim().toLowerCase())
  const isStored = user === null ? false : await storeLink(deps, user, origin, publicUrl)
  if (isStored) return
  await deps.audits.insertMany([failureAudit(deps, 'auth.reset_refused', user?.id ?? null, origin)])
}

async function storeLink(deps: ResetDeps, user: User, { ip }: Origin, publicUrl: string): Promise<boolean> {
  const at = deps.clock.now()
  const expiresAt = at + RESET_LIFE_MS
  const { token, hash: tokenHash } = newToken(deps.random)
  const facts = { email: user.email, time: mailTime(at), ip, expires: mailTime(expiresAt) }
  const mails = [linkMail(deps, 'password_reset_requested', user.email, facts, `${publicUrl}/reset#${token}`)]
  const audit = accountAudit(deps, 'somebody', 'auth.reset_requested', user.id, { ip })
  const reset = { userId: user.id, tokenHash, securityEpoch: user.securityEpoch, expiresAt }
  if (!(await deps.resets.insert(reset, RESETS_MAX, at, { audit, mails }))) return false
  notifyMailer(deps, mails)
  return true
}

/**
 * Replaces the password of the person whom a link was mailed to, ends all their sessions, forgets their browsers and mails them. The
 * authenticator stays: the next log-in asks for its code. Throws `NOT_FOUND` for an unknown, used or expired link, and for one of a former
 * epoch of the person; `VALIDATION_ERROR` at `password` leaves the link as it was.
 */
export async function completePasswordReset(
  deps: ResetDeps,
  { token, password, origin, signal = null }: LoginTry & { readonly token: string; readonly password: string },
): Promise<void> {
  const key = `reset-link:${origin.group}`
  const place = { lane: key, counters: [{ key, delay: SOURCE_DELAY }] }
  const found = await evaluateSlowly(deps, place, () => readLink(deps, token), signal)
  if (found === null) throw gone()
  const { reset, user } = found
  checkPassword(password, user.email)
  const passwordHash = await deps.passwords.hash(password)
  const at = deps.clock.now()
  const what = 'The password was changed with a link that was mailed to this address. All your log-ins have ended.'
  const mails = [changedMail(deps, user.email, what)]
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.password_reset', user.id, { ip: origin.ip })
  if (!(await deps.resets.complete(reset, { passwordHash, at }, { audit, mails }))) throw gone()
  notifyMailer(deps, mails)
}

async function readLink(deps: ResetDeps, token: string): Promise<{ reset: PasswordReset; user: User } | null> {
  const reset = await deps.resets.findByTokenHash(tokenHashOf(token))
  if (reset === null || reset.expiresAt <= deps.clock.now()) return null
  const user = await deps.users.findById(reset.userId)
  return user?.securityEpoch !== reset.securityEpoch ? null : { reset, user }
}

function gone(): PaymeshError {
  const message = 'This link is no longer valid. Ask for a new one.'
  return new PaymeshError('NOT_FOUND', { message })
}
