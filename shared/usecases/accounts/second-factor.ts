import { invalidState, wrongEntry } from '#shared/contracts/errors.ts'
import { totpContext } from '#shared/ports/secrets.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { ActingSession, User } from '#shared/ports/users.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { accountAudit, accountMail, notifyMailer } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { completeLogIn, knownBrowser, type LoggedIn } from './log-in.ts'
import { countCode } from './login-throttle.ts'
import { loggedOut, replaceToken, STEP_UP_MS } from './operator-sessions.ts'

type Who = Pick<OperatorSession, keyof ActingSession | 'loginId'>

/** Completes a login with an authenticator code. Throws `VALIDATION_ERROR` at `code`, or `RATE_LIMITED`. */
export async function giveCode(
  deps: PeopleDeps,
  who: Who,
  { code, origin }: { readonly code: string; readonly origin: Origin },
): Promise<LoggedIn> {
  const user = await personOf(deps, who)
  await useCode(deps, user, code, `code:${entryOf(deps, user, origin)}`)
  return await completeLogIn(deps, user, { origin, secondFactor: 'given', by: 'code', pending: who })
}

/** Completes a login with a recovery code, which is used up and announced by mail. */
export async function giveRecoveryCode(
  deps: PeopleDeps,
  who: Who,
  { code, origin }: { readonly code: string; readonly origin: Origin },
): Promise<LoggedIn> {
  const user = await personOf(deps, who)
  await useRecoveryCode(deps, user, { code, origin, counter: `recovery-code:${entryOf(deps, user, origin)}` })
  return await completeLogIn(deps, user, { origin, secondFactor: 'given', by: 'recovery_code', pending: who })
}

/** Allows dangerous actions for some minutes; the session gets a new token. A person without an authenticator gets `INVALID_STATE`. */
export async function stepUp(
  deps: PeopleDeps,
  who: Who,
  code: string,
): Promise<{ readonly token: string; readonly until: number }> {
  const user = await personOf(deps, who)
  await useCode(deps, user, code, `step-up:${who.loginId}`)
  const until = deps.clock.now() + STEP_UP_MS
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.stepped_up', user.id)
  return { token: await replaceToken(deps, who, { steppedUpUntil: until }, { audit }), until }
}

/** A recognized browser has its own counter of codes: an attacker with the password cannot delay the owner. */
function entryOf(deps: PeopleDeps, user: User, { device }: Origin): string {
  const browser = knownBrowser(deps, user, device)
  return browser === null ? user.id : `${user.id}:${browser}`
}

/** Uses a code of the authenticator; each is accepted at most once. Tries count at `counter`. */
export async function useCode(deps: PeopleDeps, user: User, code: string, counter: string): Promise<void> {
  const { totp } = user
  if (totp === null) throw invalidState('Turn on two-factor authentication first.')
  await countCode(deps, counter)
  const secret = deps.secretBox.open(totp.sealedSecret, totpContext(user.id))
  const step = await deps.codes.stepOf(secret, code, deps.clock.now())
  if (step === null || !(await deps.users.useTotpStep(user, step)))
    throw wrongEntry('code', 'Wrong or already used code. Wait for the next one.')
  await deps.attempts.clear(counter)
}

/** Uses up a recovery code and mails its owner. Tries count at `counter`. */
export async function useRecoveryCode(
  deps: PeopleDeps,
  user: User,
  { code, origin: { ip }, counter }: { readonly code: string; readonly origin: Origin; readonly counter: string },
): Promise<void> {
  await countCode(deps, counter)
  const left = String(Math.max(0, user.recoveryHashes.length - 1))
  const data = { email: user.email, time: mailTime(deps.clock.now()), ip, left }
  const mails = [accountMail(deps, 'recovery_code_used', user.email, data)]
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.recovery_code_used', user.id, { ip, left })
  if (!(await deps.users.useRecoveryHash(user, recoveryHash(deps, user.id, code), { audit, mails })))
    throw wrongEntry('code', 'Wrong or already used recovery code.')
  await deps.attempts.clear(counter)
  notifyMailer(deps, mails)
}

/** The keyed digest under which a recovery code is stored; spaces, dashes and case do not matter. */
export function recoveryHash({ hasher }: Pick<PeopleDeps, 'hasher'>, userId: string, code: string): string {
  return hasher.hash(`recovery:${userId}:${code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`)
}

/** The person of a session; `UNAUTHENTICATED` when their epoch was raised since the session was read. */
export async function personOf({ users }: Pick<PeopleDeps, 'users'>, who: ActingSession): Promise<User> {
  const user = await users.findById(who.userId)
  if (user?.securityEpoch !== who.securityEpoch) throw loggedOut()
  return user
}
