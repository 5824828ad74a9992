import { createHash } from 'node:crypto'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { ActingSession, User } from '#shared/ports/users.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { accountAudit, accountMail, failureAudit, notifyMailer } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { ACCOUNT_DELAY, evaluateSlowly, SOURCE_DELAY, type TryPlace } from './login-throttle.ts'
import { loggedOut, newSession, newToken } from './operator-sessions.ts'

/** What the browser receives after a login step. */
export interface LoggedIn {
  readonly token: string
  /** `pending`: a code is required before anything else. */
  readonly secondFactor: 'none' | 'pending' | 'given'
  /** The token that identifies this browser from now on; null until the login is complete. */
  readonly device: string | null
}

/**
 * Logs in with e-mail address and password. An unknown address and a wrong password take the same time and get the same response,
 * `UNAUTHENTICATED`, delayed longer after each wrong try from this source, or at this account from unrecognized browsers;
 * an account adds at most 5 s. A right password is never refused: it waits for its turn among the tries of its source, or of its
 * browser if the account recognizes it. If `signal` aborts before a try's turn, the try is not checked and rejects.
 */
export async function logIn(
  deps: PeopleDeps,
  input: {
    readonly email: string
    readonly password: string
    readonly origin: Origin
    readonly signal?: AbortSignal | undefined
  },
): Promise<LoggedIn> {
  const { origin } = input
  const email = input.email.trim().toLowerCase()
  const user = await deps.users.findByEmail(email)
  const place = placeOf(deps, { email, user, origin })
  const check = async () => {
    const isRight = await deps.passwords.verify(user?.passwordHash ?? null, input.password)
    if (user !== null && isRight) return user
    // Written for unknown addresses too; otherwise the response time would tell them apart.
    const failure = failureAudit(deps, 'auth.log_in_failed', user?.id ?? null, origin)
    await deps.audits.insertMany([failure])
    deps.metrics.count('logins_total', { result: 'wrong_password' })
    return null
  }
  const right = await evaluateSlowly(deps, place, check, input.signal ?? null)
  if (right === null) throw new PaymeshError('UNAUTHENTICATED', { message: 'Wrong email or password.' })
  await deps.attempts.clear(place.counters[0].key)
  if (right.totp === null) return await completeLogIn(deps, right, { origin, secondFactor: 'none', by: 'password' })
  return await requestSecondFactor(deps, right, origin)
}

/** A recognized browser has its own lane and counter, so that strangers cannot delay its owner. */
function placeOf(
  deps: PeopleDeps,
  { email, user, origin }: { readonly email: string; readonly user: User | null; readonly origin: Origin },
): TryPlace & { readonly counters: readonly [TryPlace['counters'][number], ...TryPlace['counters']] } {
  const browser = knownBrowser(deps, user, origin.device)
  if (browser !== null) {
    const key = `browser:${browser}`
    return { lane: key, counters: [{ key, delay: ACCOUNT_DELAY }] }
  }
  const account = { key: `account:${createHash('sha256').update(email).digest('hex')}`, delay: ACCOUNT_DELAY }
  const source = { key: `address:${origin.group}`, delay: SOURCE_DELAY }
  return { lane: source.key, counters: [account, source] }
}

async function requestSecondFactor(deps: PeopleDeps, user: User, { ip, userAgent }: Origin): Promise<LoggedIn> {
  const { token, hash: id } = newToken(deps.random)
  const facts = { loginId: deps.random.uuid(), secondFactor: 'pending', steppedUpUntil: null, ip, userAgent } as const
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.password_given', user.id, { ip })
  const begun = await deps.sessions.begin(newSession(id, user, facts, deps.clock.now()), NO_BROWSER, { audit })
  if (!begun) throw overtaken()
  return { token, secondFactor: 'pending', device: null }
}

/** A session that makes no browser a recognised one, and follows none that awaited a code. */
export const NO_BROWSER = { device: null, pending: null } as const

/** The error of a log-in whose person's epoch was raised after it was checked. */
function overtaken(): PaymeshError {
  const message = 'Your account was changed while you logged in. Please log in again.'
  return new PaymeshError('UNAUTHENTICATED', { message })
}

/**
 * Starts the session of a person who passed every required factor; a login from an unrecognized browser is announced by mail. `user` is as
 * read before the factors were checked. Throws `UNAUTHENTICATED`, and stores nothing, when their epoch was raised since, or `pending`, the
 * session that awaited the code, ended.
 */
export async function completeLogIn(
  deps: PeopleDeps,
  user: User,
  {
    origin,
    secondFactor,
    by,
    pending = null,
  }: {
    readonly origin: Origin
    readonly secondFactor: 'none' | 'given'
    readonly by: 'password' | 'code' | 'recovery_code' | 'invitation'
    readonly pending?: ActingSession | null
  },
): Promise<LoggedIn> {
  const at = deps.clock.now()
  const { ip, userAgent } = origin
  const isNew = knownBrowser(deps, user, origin.device) === null
  const device = origin.device ?? newToken(deps.random).token
  const { token, hash: id } = newToken(deps.random)
  const facts = { loginId: deps.random.uuid(), secondFactor, steppedUpUntil: null, ip, userAgent }
  const mails: MailRecord[] = []
  if (isNew && by !== 'invitation') {
    const data = { email: user.email, time: mailTime(at), ip, user_agent: userAgent || 'unknown' }
    mails.push(accountMail(deps, 'login_new_device', user.email, data))
  }
  const detail = { ip, user_agent: userAgent, by, new_browser: isNew }
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.logged_in', user.id, detail)
  const browser = { device: deviceHash(deps, device), pending }
  if (!(await deps.sessions.begin(newSession(id, user, facts, at), browser, { audit, mails }))) throw overtaken()
  notifyMailer(deps, mails)
  deps.metrics.count('logins_total', { result: 'done' })
  return { token, secondFactor, device }
}

/** The digest of a browser's device token if this person logged in with it before; null otherwise. */
export function knownBrowser(deps: PeopleDeps, user: User | null, device: string | null): string | null {
  if (user === null || device === null) return null
  const hash = deviceHash(deps, device)
  return user.devices.includes(hash) ? hash : null
}

function deviceHash({ hasher }: PeopleDeps, device: string): string {
  return hasher.hash(`browser:${device}`)
}

type EndDeps = Pick<PeopleDeps, 'sessions' | 'clock' | 'random'>
type Own = Pick<OperatorSession, keyof ActingSession | 'loginId' | 'email'>

/** Ends this session; ending it again changes nothing. */
export async function logOut(deps: EndDeps, session: Own): Promise<void> {
  const audit = accountAudit(deps, `user:${session.email}`, 'auth.logged_out', session.userId)
  await deps.sessions.end(session.userId, session.loginId, { audit })
}

/**
 * Ends one of a person's own sessions, or with null all but this one, also those of log-ins that are still in flight; returns how many
 * were ended. Throws `UNAUTHENTICATED` when this session has ended itself.
 */
export async function endOwnSessions(deps: EndDeps, session: Own, loginId: string | null): Promise<number> {
  const detail = { login: loginId ?? 'all others' }
  const audit = accountAudit(deps, `user:${session.email}`, 'auth.sessions_ended', session.userId, detail)
  if (loginId !== null) return await deps.sessions.end(session.userId, loginId, { audit })
  const ended = await deps.sessions.endOthers(session, { audit })
  if (ended === null) throw loggedOut()
  return ended
}
