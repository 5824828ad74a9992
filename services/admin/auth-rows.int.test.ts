import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { adminCaller } from '#test/support/admin.ts'
import { ADMIN_ORIGIN, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'
import { AUDIT_BEHAVIOUR } from './attack-table.fixture.ts'

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(() => admin.close())

/** Procedures that were seen to leave what they should. */
const covered = new Set<string>()

/** The token in the newest mail to an address. */
async function mailedToken(email: string): Promise<string> {
  const [stored] = await stores.db.collection(MAILS).find({ to: email }).sort({ createdAt: -1, _id: -1 }).toArray()
  const mail = await openSealedMails(createMailQueue(stores.db), admin.deps.secretBox).findById(stored?._id ?? '')
  return /#(\S{43})/.exec(mail === null ? '' : renderMail(mail).text)?.[1] ?? ''
}

async function invitedToken(): Promise<string> {
  const owner = await adminCaller(stores, { stored: true, env: { PAYMESH_PUBLIC_ADMIN_URL: ADMIN_ORIGIN } })
  const email = `i${randomUUID()}@example.com`
  await owner.caller.members.invite({ ...owner.at, opId: randomUUID(), email, role: 'viewer' })
  return await mailedToken(email)
}

/** Calls a procedure and returns its answer once the rows and mails that it left are those expected. */
async function leaves(
  { mutate }: ReturnType<typeof admin.browser>,
  path: string,
  input: object,
  expected: { readonly actions: readonly string[]; readonly mails: number },
) {
  const count = () => stores.db.collection(MAILS).countDocuments()
  const before = { ids: await stores.db.collection(AUDIT_LOG).distinct('_id'), mails: await count() }
  const answer = await mutate(path, input)
  expect([path, answer.status]).toEqual([path, 200])
  const rows = await stores.db
    .collection(AUDIT_LOG)
    .find({ _id: { $nin: before.ids } })
    .toArray()
  expect([path, ...rows.map(({ action }) => action).sort()]).toEqual([path, ...[...expected.actions].sort()])
  expect([path, (await count()) - before.mails]).toEqual([path, expected.mails])
  covered.add(path)
  return answer
}

// Guarantee: every step of a log-in, and every change of a person's own access, is in the audit trail.
test('each step of a person’s log-in leaves its rows and mails', async () => {
  const { email } = await admin.addPerson(`a${randomUUID()}@example.com`)
  const browser = admin.browser()
  const row = (action: string, mails = 0) => ({ actions: [action], mails })
  await leaves(browser, 'auth.logIn', { email, password: PASSWORD }, row('auth.logged_in', 1))
  const begun = await leaves(
    browser,
    'auth.beginEnrolment',
    { password: PASSWORD, code: null },
    row('auth.authenticator_requested'),
  )
  const { secret } = begun.data
  await leaves(browser, 'auth.confirmEnrolment', { code: await admin.codeOf(secret) }, row('auth.authenticator_set', 1))
  const renew = { opId: randomUUID() }
  const made = await leaves(browser, 'auth.renewRecoveryCodes', renew, row('auth.recovery_codes_renewed', 1))
  expect((await browser.mutate('auth.renewRecoveryCodes', renew)).status).toBe(409)

  await leaves(browser, 'auth.logOut', {}, row('auth.logged_out'))
  await leaves(browser, 'auth.logIn', { email, password: PASSWORD }, row('auth.password_given'))
  admin.advance(60_000)
  await leaves(browser, 'auth.giveCode', { code: await admin.codeOf(secret) }, row('auth.logged_in'))
  const other = admin.browser()
  await other.logIn(email)
  const [code] = made.data.recoveryCodes
  const both = { actions: ['auth.recovery_code_used', 'auth.logged_in'], mails: 2 }
  await leaves(other, 'auth.giveRecoveryCode', { code }, both)
  await leaves(browser, 'auth.endSessions', { loginId: null }, row('auth.sessions_ended'))
  expect((await other.query('auth.me')).status).toBe(401)
  admin.advance(60_000)
  await leaves(browser, 'auth.stepUp', { code: await admin.codeOf(secret) }, row('auth.stepped_up'))
  await leaves(browser, 'auth.removeAuthenticator', { opId: randomUUID() }, row('auth.authenticator_removed', 1))
  const change = { password: PASSWORD, next: 'other words are better' }
  const again = { actions: ['auth.password_changed', 'auth.logged_in'], mails: 1 }
  await leaves(browser, 'auth.changePassword', change, again)
  admin.advance(1)
  await leaves(admin.browser(), 'auth.requestReset', { email: 'nobody@example.com' }, row('auth.reset_refused'))
  await leaves(admin.browser(), 'auth.requestReset', { email }, row('auth.reset_requested', 1))
  const forgotten = { token: await mailedToken(email), password: 'yet other words again' }
  await leaves(admin.browser(), 'auth.resetPassword', forgotten, row('auth.password_reset', 1))
  const join = { token: await invitedToken(), name: 'Ines', password: PASSWORD }
  const joined = { actions: ['member.joined', 'auth.logged_in'], mails: 0 }
  await leaves(admin.browser(), 'auth.acceptInvitation', join, joined)

  const wanted = Object.entries(AUDIT_BEHAVIOUR).flatMap(([path, { audit }]) => (audit === 'each' ? [path] : []))
  expect([...covered].sort()).toEqual(wanted.sort())
})
