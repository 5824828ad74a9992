import { invalidState, type PaymeshError, wrongEntry } from '#shared/contracts/errors.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import { totpContext } from '#shared/ports/secrets.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { ActingSession, User } from '#shared/ports/users.ts'
import { accountAudit, changedMail, notifyMailer } from './account-audit.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'
import { knownBrowser } from './log-in.ts'
import { ACCOUNT_DELAY, countCode, evaluateSlowly } from './login-throttle.ts'
import { loggedOut, readableText, refusalOf, replaceToken, STEP_UP_MS } from './operator-sessions.ts'
import { personOf, recoveryHash, useCode, useRecoveryCode } from './second-factor.ts'

type Who = Pick<OperatorSession, keyof ActingSession | 'loginId'>

/** How long a displayed secret can be confirmed. */
const PENDING_MS = 15 * 60_000
const RECOVERY_CODES = 10

/**
 * Creates a secret for an authenticator; it takes effect once confirmed. Requires the password, and, if an authenticator is
 * already set up, one of its codes or a recovery code: an open session alone must not change who can log in.
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
  const audit = accountAudit(deps, `user:${user.email}`, 'auth.authenticator_requested', user.id)
  if (!(await deps.users.setPendingTotp(who, { sealedSecret, at: deps.clock.now() }, { audit }))) throw loggedOut()
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
 * Confirms the new authenticator with its first code. From then on logins require codes, every other session has ended, and this
 * one has a new token that allows dangerous actions; no other browser stays a recognised one. The recovery codes are in this response and nowhere else.
 */
export async function confirmEnrolment(
  deps: PeopleDeps,
  who: Who,
  { code, origin }: { readonly code: string; readonly origin: Origin },
): Promise<{ readonly token: string; readonly recoveryCodes: readonly string[] }> {
  const user = await personOf(deps, who)
  const at = deps.clock.now()
  const { pendingTotp } = user
  if (pendingTotp === null || at - pendingTotp.at > PENDING_MS) throw startAgain()
  const counter = `enrol:${who.loginId}`
  await countCode(deps, counter)
  const secret = deps.secretBox.open(pendingTotp.sealedSecret, totpContext(user.id))
  const lastStep = await deps.codes.stepOf(secret, code, at)
  if (lastStep === null) throw wrongEntry('code', 'Wrong code. Check that your phone’s clock is correct.')
  await deps.attempts.clear(counter)
  const recoveryCodes = newRecoveryCodes(deps)
  const recoveryHashes = recoveryCodes.map((one) => recoveryHash(deps, user.id, one))
  const confirmed = { sealedSecret: pendingTotp.sealedSecret, lastStep, at, recoveryHashes }
  const auditWrite = changedNote(deps, user, 'Two-factor authentication was turned on.', 'auth.authenticator_set')
  const by = { session: who, keepDevice: knownBrowser(deps, user, origin.device) }
  const securityEpoch = await deps.users.confirmTotp(by, confirmed, auditWrite)
  if (securityEpoch === null) throw await refusalOf(deps, who, startAgain())
  notifyMailer(deps, auditWrite.mails)
  const rights = { secondFactor: 'given', steppedUpUntil: at + STEP_UP_MS } as const
  return { token: await replaceToken(deps, { ...who, securityEpoch }, rights), recoveryCodes }
}

/**
 * Removes the authenticator; from then on logins need only the password, and dangerous actions are not possible. Every other session ends,
 * and no other browser stays a recognised one.
 */
export async function removeAuthenticator(
  deps: PeopleDeps,
  who: Who,
  origin: Origin,
): Promise<{ readonly token: string }> {
  const user = await personOf(deps, who)
  const auditWrite = changedNote(deps, user, 'Two-factor authentication was turned off.', 'auth.authenticator_removed')
  const by = { session: who, keepDevice: knownBrowser(deps, user, origin.device) }
  const securityEpoch = await deps.users.removeTotp(by, auditWrite)
  if (securityEpoch === null) throw loggedOut()
  notifyMailer(deps, auditWrite.mails)
  const rights = { secondFactor: 'none', steppedUpUntil: null } as const
  return { token: await replaceToken(deps, { ...who, securityEpoch }, rights) }
}

/**
 * Creates ten new recovery codes and voids the former ones. They are in the first response and nowhere else: repeating the operation throws
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
  if (user.totp === null) throw invalidState('Turn on two-factor authentication first.')
  const { audit, mails } = changedNote(deps, user, 'New recovery codes were created.', 'auth.recovery_codes_renewed')
  const auditWrite = { audit: { ...audit, id: `recovery-codes:${operation.id}` }, mails }
  if (!(await deps.users.setRecoveryHashes(who, hashes, auditWrite))) throw await refusalOf(deps, who, shownBefore())
  notifyMailer(deps, mails)
  return codes
}

const startAgain = (): PaymeshError => invalidState('Start again: this setup is already complete or timed out.')

const shownBefore = (): PaymeshError =>
  invalidState('These codes were already shown. Create new ones if you did not save them.')

/**
 * Throws `VALIDATION_ERROR` at `password` unless it is this person's. Each wrong password delays the response longer.
 */
export async function checkOwnPassword(
  deps: PeopleDeps,
  user: User,
  password: string,
  { loginId }: Pick<Who, 'loginId'>,
): Promise<void> {
  const key = `password:${user.id}`
  const place = { lane: `own:${loginId}`, counters: [{ key, delay: ACCOUNT_DELAY }] }
  const right = await evaluateSlowly(deps, place, async () =>
    (await deps.passwords.verify(user.passwordHash, password)) ? user : null,
  )
  if (right === null) throw wrongEntry('password', 'Wrong password.')
  await deps.attempts.clear(key)
}

function changedNote(deps: PeopleDeps, user: User, what: string, action: AuditAction) {
  return {
    audit: accountAudit(deps, `user:${user.email}`, action, user.id),
    mails: [changedMail(deps, user.email, what)],
  }
}

/** Ten codes of 50 random bits, as `xxxxx-xxxxx`. */
function newRecoveryCodes({ random }: PeopleDeps): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = readableText(random, 10)
    return `${text.slice(0, 5)}-${text.slice(5)}`
  })
}
