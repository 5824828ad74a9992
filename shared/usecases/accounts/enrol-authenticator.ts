import { PaymeshError } from '#shared/contracts/errors.ts'
import { totpContext } from '#shared/ports/secrets.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { User } from '#shared/ports/users.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { accountAudit, accountMail, kickMails } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { ACCOUNT_DELAY, countCode, judgeSlowly } from './login-throttle.ts'
import { replaceToken, STEP_UP_MS } from './operator-sessions.ts'
import { personOf, recoveryHash, useCode, useRecoveryCode } from './second-factor.ts'

type Who = Pick<OperatorSession, 'id' | 'userId' | 'loginId'>

/** How long a shown secret may be proved. */
const PENDING_MS = 15 * 60_000
const RECOVERY_CODES = 10
/** Crockford's base 32: nothing in it is mistaken for something else. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Makes a secret for an authenticator; it counts once it is proved. Asks for the password, and, where there is an authenticator
 * already, for one of its codes or a recovery code: an open session alone must not change who can log in.
 */
export async function beginEnrolment(
  deps: PeopleDeps,
  who: Who,
  input: { readonly password: string; readonly code: string | null; readonly origin: Origin },
): Promise<{ readonly secret: string; readonly uri: string }> {
  const user = await personOf(deps, who)
  await checkOwnPassword(deps, user, input.password, who)
  if (user.totp !== null) await proveSecondFactor(deps, user, input.code ?? '', { origin: input.origin, who })
  const secret = deps.codes.newSecret()
  const sealedSecret = deps.secretBox.seal(secret, totpContext(user.id))
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.authenticator_asked', user.id)
  await deps.users.setPendingTotp(user.id, { sealedSecret, at: deps.clock.now() }, { audit })
  return { secret, uri: deps.codes.uri(secret, user.email) }
}

async function proveSecondFactor(
  deps: PeopleDeps,
  user: User,
  code: string,
  { origin, who }: { readonly origin: Origin; readonly who: Who },
): Promise<void> {
  const counter = `prove:${who.loginId}`
  if (/^[\d\s]{6,}$/.test(code)) await useCode(deps, user, code, counter)
  else await useRecoveryCode(deps, user, { code, origin, counter })
}

/**
 * Proves the new authenticator with its first code. From then on log-ins ask for codes, every other session has ended, and this
 * one has a new token that may do dangerous deeds. The recovery codes are in this answer and nowhere else.
 */
export async function confirmEnrolment(
  deps: PeopleDeps,
  who: Who,
  code: string,
): Promise<{ readonly token: string; readonly recoveryCodes: readonly string[] }> {
  const user = await personOf(deps, who)
  const at = deps.clock.now()
  const { pendingTotp } = user
  if (pendingTotp === null || at - pendingTotp.at > PENDING_MS) {
    throw new PaymeshError('INVALID_STATE', { message: 'Begin again: this setup is finished or took too long.' })
  }
  const counter = `enrol:${who.loginId}`
  await countCode(deps, counter)
  const secret = deps.secretBox.open(pendingTotp.sealedSecret, totpContext(user.id))
  const lastStep = await deps.codes.stepOf(secret, code, at)
  if (lastStep === null) {
    const message = 'This code is wrong. Check that the clock of your phone is right.'
    throw new PaymeshError('VALIDATION_ERROR', { message, details: [{ path: 'code', message }] })
  }
  await deps.attempts.clear(counter)
  const recoveryCodes = newRecoveryCodes(deps)
  const recoveryHashes = recoveryCodes.map((one) => recoveryHash(deps, user.id, one))
  const confirmed = { sealedSecret: pendingTotp.sealedSecret, lastStep, at, recoveryHashes, keepLoginId: who.loginId }
  const noted = changedNote(deps, user, 'An authenticator was set up.', 'auth.authenticator_set')
  if (!(await deps.users.confirmTotp(user.id, confirmed, noted))) {
    throw new PaymeshError('INVALID_STATE', { message: 'Begin again: this setup is finished or took too long.' })
  }
  kickMails(deps, noted.mails)
  const token = await replaceToken(deps, who.id, { secondFactor: 'given', steppedUpUntil: at + STEP_UP_MS })
  if (token === null) throw new PaymeshError('UNAUTHENTICATED', { message: 'Please log in.' })
  return { token, recoveryCodes }
}

/** Takes the authenticator away; log-ins ask for the password alone from then on, and dangerous deeds are not possible. */
export async function removeAuthenticator(deps: PeopleDeps, who: Who): Promise<{ readonly token: string }> {
  const user = await personOf(deps, who)
  const noted = changedNote(deps, user, 'The authenticator was removed.', 'auth.authenticator_removed')
  if (await deps.users.removeTotp(user.id, who.loginId, noted)) kickMails(deps, noted.mails)
  const token = await replaceToken(deps, who.id, { secondFactor: 'none', steppedUpUntil: null })
  if (token === null) throw new PaymeshError('UNAUTHENTICATED', { message: 'Please log in.' })
  return { token }
}

/**
 * Ten new recovery codes; the former ones are void. They are in the first answer and nowhere else: the same operation again throws
 * `INVALID_STATE` and changes nothing.
 */
export async function renewRecoveryCodes(
  deps: PeopleDeps,
  who: Who,
  operation: { readonly id: string; readonly isDone: boolean },
): Promise<readonly string[]> {
  const user = await personOf(deps, who)
  if (operation.isDone) throw shownBefore()
  const codes = newRecoveryCodes(deps)
  const hashes = codes.map((one) => recoveryHash(deps, user.id, one))
  if (user.totp === null) throw new PaymeshError('INVALID_STATE', { message: 'Set up an authenticator first.' })
  const { audit, mails } = changedNote(deps, user, 'New recovery codes were made.', 'auth.recovery_codes_renewed')
  const noted = { audit: { ...audit, id: `recovery-codes:${operation.id}` }, mails }
  if (!(await deps.users.setRecoveryHashes(user.id, hashes, noted))) throw shownBefore()
  kickMails(deps, mails)
  return codes
}

function shownBefore(): PaymeshError {
  const message = 'These codes were made and shown before. Ask for new ones if they were not written down.'
  return new PaymeshError('INVALID_STATE', { message })
}

/**
 * Throws `VALIDATION_ERROR` at `password` unless it is this person's. Wrong ones are answered the later the more of them there were.
 */
export async function checkOwnPassword(
  deps: PeopleDeps,
  user: User,
  password: string,
  { loginId }: Pick<Who, 'loginId'>,
): Promise<void> {
  const key = `password:${user.id}`
  const place = { lane: `own:${loginId}`, counters: [{ key, delay: ACCOUNT_DELAY }] }
  const right = await judgeSlowly(deps, place, async () =>
    (await deps.passwords.verify(user.passwordHash, password)) ? user : null,
  )
  if (right === null) {
    const message = 'This is not your password.'
    throw new PaymeshError('VALIDATION_ERROR', { message, details: [{ path: 'password', message }] })
  }
  await deps.attempts.clear(key)
}

function changedNote(deps: PeopleDeps, user: User, what: string, action: string) {
  const data = { email: user.email, time: mailTime(deps.clock.now()), what }
  return {
    audit: accountAudit(deps, `user:${user.email}`, action, user.id),
    mails: [accountMail(deps, 'account_changed', user.email, data)],
  }
}

/** Ten codes of 50 random bits, as `xxxxx-xxxxx`. */
function newRecoveryCodes({ random }: PeopleDeps): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = [...random.bytes(10)].map((byte) => ALPHABET.charAt(byte & 31)).join('')
    return `${text.slice(0, 5)}-${text.slice(5)}`
  })
}
