import { createHash } from 'node:crypto'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { Random } from '#shared/ports/runtime.ts'
import type { OperatorSession, Session } from '#shared/ports/sessions.ts'
import type { ActingSession, PersonAt } from '#shared/ports/users.ts'
import type { PeopleDeps } from './account-deps.ts'

const MINUTE_MS = 60_000
/** A session ends after this long without activity of the person. */
export const SESSION_IDLE_MS: Ms = 30 * MINUTE_MS
/** A session ends this long after its login, whatever happens. */
export const SESSION_LIFE_MS: Ms = 720 * MINUTE_MS
/** Time between password and code. */
const PENDING_LIFE_MS: Ms = 10 * MINUTE_MS
/** How long one code allows dangerous actions. */
export const STEP_UP_MS: Ms = 5 * MINUTE_MS
/** A replaced token still allows reads, for requests in flight. */
const FORMER_LIFE_MS: Ms = 10_000
/** Activity is written at most this often. */
const TOUCH_EVERY_MS: Ms = MINUTE_MS

/** A fresh token of 256 bits, of a session or a link, and the hash it is stored under. */
export function newToken(random: Random): { readonly token: string; readonly hash: string } {
  const token = Buffer.from(random.bytes(32)).toString('base64url')
  return { token, hash: tokenHashOf(token) }
}

/** SHA-256 of a token: 256 random bits need no slow hash. */
export function tokenHashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Crockford's base 32: it leaves out characters that look alike. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** A random text for people, of five random bits a character. */
export const readableText = (random: Pick<Random, 'bytes'>, length: number): string =>
  [...random.bytes(length)].map((byte) => ALPHABET.charAt(byte & 31)).join('')

/**
 * A session that begins now; `pending` ones live just long enough to enter a code. `user` is as it was when the password was checked: the
 * session is void, and is not stored, once their epoch was raised.
 */
export function newSession(
  id: string,
  user: PersonAt,
  facts: Pick<Session, 'loginId' | 'secondFactor' | 'steppedUpUntil' | 'ip' | 'userAgent'>,
  at: Ms,
): Session {
  const life = facts.secondFactor === 'pending' ? PENDING_LIFE_MS : SESSION_LIFE_MS
  const { id: userId, securityEpoch } = user
  return { id, userId, securityEpoch, ...facts, loggedInAt: at, seenAt: at, endsAt: at + life }
}

/**
 * The session of a token with its person's current roles; null for unknown, ended and idle ones, and for those of a former epoch.
 * `isPerson` says that a person caused the request: only such requests keep a session from becoming idle.
 */
export async function readSession(
  deps: Pick<PeopleDeps, 'sessions' | 'memberships' | 'clock'>,
  token: string,
  { isPerson }: { readonly isPerson: boolean },
): Promise<OperatorSession | null> {
  const at = deps.clock.now()
  const found = await deps.sessions.find(tokenHashOf(token))
  if (found === null || !lives(found.session, at)) return null
  const { session, user } = found
  const roles = await deps.memberships.rolesOf(session.userId)
  if (isPerson && at - session.seenAt > TOUCH_EVERY_MS) await deps.sessions.touch(session.id, at)
  const { id, loginId, securityEpoch, secondFactor, steppedUpUntil } = session
  const { email, name, isOperator } = user
  return { id, loginId, userId: user.id, securityEpoch, email, name, isOperator, roles, secondFactor, steppedUpUntil }
}

/** Whether a session is still valid. */
export function lives({ seenAt, endsAt }: Pick<Session, 'seenAt' | 'endsAt'>, at: Ms): boolean {
  return at < endsAt && at - seenAt < SESSION_IDLE_MS
}

/**
 * Gives the browser a new token because its rights change; the old one keeps its former rights for some
 * seconds. `auditWrite` is stored with the new token. Throws `UNAUTHENTICATED` when the session ended, its token was replaced concurrently,
 * or its epoch is another one than that of `who`.
 */
export async function replaceToken(
  { sessions, clock, random }: Pick<PeopleDeps, 'sessions' | 'clock' | 'random'>,
  who: ActingSession,
  change: Partial<Pick<Session, 'secondFactor' | 'steppedUpUntil'>>,
  auditWrite: AuditWrite | null = null,
): Promise<string> {
  const at = clock.now()
  const found = await sessions.find(who.id)
  if (found === null || !lives(found.session, at)) throw loggedOut()
  const former = { ...found.session, securityEpoch: who.securityEpoch }
  const { token, hash: id } = newToken(random)
  const formerEndsAt = Math.min(former.endsAt, at + FORMER_LIFE_MS)
  const next = { ...former, ...change, id, seenAt: at }
  if (!(await sessions.replace(former.id, next, formerEndsAt, auditWrite))) throw loggedOut()
  return token
}

/** The error of a change that was not stored: `loggedOut` when the session has ended, else `otherwise`. */
export async function refusalOf(
  { sessions }: Pick<PeopleDeps, 'sessions'>,
  who: ActingSession,
  otherwise: PaymeshError,
): Promise<PaymeshError> {
  const found = await sessions.find(who.id)
  return found?.session.securityEpoch === who.securityEpoch ? otherwise : loggedOut()
}

/** The error of an act whose session, or whose person's epoch, ended before it was stored. */
export function loggedOut(): PaymeshError {
  return new PaymeshError('UNAUTHENTICATED', { message: 'Please log in.' })
}
