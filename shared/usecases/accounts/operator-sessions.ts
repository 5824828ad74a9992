import { createHash } from 'node:crypto'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { Random } from '#shared/ports/runtime.ts'
import type { OperatorSession, Session } from '#shared/ports/sessions.ts'
import type { User } from '#shared/ports/users.ts'
import type { PeopleDeps } from './account-deps.ts'

const MINUTE_MS = 60_000
/** A session ends after this long without activity of the person. */
export const SESSION_IDLE_MS: Ms = 30 * MINUTE_MS
/** A session ends this long after its login, whatever happens. */
export const SESSION_LIFE_MS: Ms = 720 * MINUTE_MS
/** Time between password and code. */
const ASKED_LIFE_MS: Ms = 10 * MINUTE_MS
/** How long one code allows dangerous actions. */
export const STEP_UP_MS: Ms = 5 * MINUTE_MS
/** A replaced token still allows reads, for requests in flight. */
const FORMER_LIFE_MS: Ms = 10_000
/** Activity is written at most this often. */
const TOUCH_EVERY_MS: Ms = MINUTE_MS

/** A fresh session token of 256 bits and the id it is stored under. */
export function newSessionToken(random: Random): { readonly token: string; readonly id: string } {
  const token = Buffer.from(random.bytes(32)).toString('base64url')
  return { token, id: sessionId(token) }
}

/** SHA-256 of a token: 256 random bits need no slow hash. */
function sessionId(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** SHA-256 of a stored password, hex: tells whether it was changed since. */
export function passwordDigestOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('hex')
}

/** A session that begins now; `asked` ones live just long enough to enter a code. `user` is as it was when the password was checked. */
export function newSession(
  id: string,
  user: Pick<User, 'id' | 'passwordHash'>,
  facts: Pick<Session, 'loginId' | 'secondFactor' | 'steppedUpUntil' | 'ip' | 'userAgent'>,
  at: Ms,
): Session {
  const life = facts.secondFactor === 'asked' ? ASKED_LIFE_MS : SESSION_LIFE_MS
  const passwordDigest = passwordDigestOf(user.passwordHash)
  return { id, userId: user.id, passwordDigest, ...facts, loggedInAt: at, seenAt: at, endsAt: at + life }
}

/** Dependencies of reading a session. */
export type ReadSessionDeps = Pick<PeopleDeps, 'users' | 'sessions' | 'memberships' | 'clock'>

/**
 * The session of a token with its person's current roles; null for unknown, ended and idle ones. `isPerson` says
 * that a person caused the request: only such requests keep a session from becoming idle.
 */
export async function readSession(
  deps: ReadSessionDeps,
  token: string,
  { isPerson }: { readonly isPerson: boolean },
): Promise<OperatorSession | null> {
  const at = deps.clock.now()
  const session = await deps.sessions.find(sessionId(token))
  if (session === null || !lives(session, at)) return null
  const [user, roles] = await Promise.all([
    deps.users.findById(session.userId),
    deps.memberships.rolesOf(session.userId),
  ])
  if (user === null) return null
  // A log-in that checked the old password while it was changed may have stored its session after all others were ended.
  if (session.passwordDigest !== undefined && session.passwordDigest !== passwordDigestOf(user.passwordHash))
    return null
  if (isPerson && at - session.seenAt > TOUCH_EVERY_MS) await deps.sessions.touch(session.id, at)
  const { id, loginId, secondFactor, steppedUpUntil } = session
  const { email, name, isOperator } = user
  return { id, loginId, userId: user.id, email, name, isOperator, roles, secondFactor, steppedUpUntil }
}

/** Whether a session is still valid. */
export function lives({ seenAt, endsAt }: Pick<Session, 'seenAt' | 'endsAt'>, at: Ms): boolean {
  return at < endsAt && at - seenAt < SESSION_IDLE_MS
}

/**
 * Gives the browser a new token because its rights change; the old one keeps its former rights for some
 * seconds. `recorded` is stored with the new token. Null when the session ended or its token was replaced concurrently.
 */
export async function replaceToken(
  { sessions, clock, random }: Pick<PeopleDeps, 'sessions' | 'clock' | 'random'>,
  sessionIdNow: string,
  change: Partial<Pick<Session, 'secondFactor' | 'steppedUpUntil'>>,
  auditWrite: AuditWrite | null = null,
): Promise<string | null> {
  const at = clock.now()
  const former = await sessions.find(sessionIdNow)
  if (former === null || !lives(former, at)) return null
  const { token, id } = newSessionToken(random)
  const formerEndsAt = Math.min(former.endsAt, at + FORMER_LIFE_MS)
  const next = { ...former, ...change, id, seenAt: at }
  return (await sessions.replace(former.id, next, formerEndsAt, auditWrite)) ? token : null
}
