import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SESSIONS, USERS } from '#shared/db/accounts/operator-models.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { ADMIN_ORIGIN, type AdminBrowser, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'

const SESSION = '__Host-paymesh'
const MINUTE = 60_000

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
let people = 0
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(() => admin.close())

/** A new person, so that no test meets another one's failures. */
async function person(): Promise<string> {
  people += 1
  const email = `person${people}@example.com`
  await admin.addPerson(email)
  return email
}

async function enrol(browser: AdminBrowser): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { data } = await browser.mutate('auth.beginEnrolment', { password: PASSWORD, code: null })
  const code = await admin.codeOf(data.secret)
  const confirmed = await browser.mutate('auth.confirmEnrolment', { code })
  expect(confirmed.status).toBe(200)
  // The next code belongs to the next step: each counts once.
  admin.advance(30_000)
  return { secret: data.secret, recoveryCodes: confirmed.data.recoveryCodes }
}

async function mailsTo(to: string): Promise<readonly string[]> {
  const found = await stores.db.collection(MAILS).find({ to }).sort({ createdAt: 1, _id: 1 }).toArray()
  return found.map(({ template }) => template)
}

describe('logging in', () => {
  // Guarantee: nobody learns from an answer whether an address has an account.
  test('a wrong password and an unknown address get the same answer', async () => {
    const email = await person()
    const wrong = await admin.browser().logIn(email, 'not the password')
    const unknown = await admin.browser().logIn('nobody@example.com')
    expect(wrong.status).toBe(401)
    const public_ = ({ error }: typeof wrong) => ({ ...error, data: { ...error.data, requestId: '' } })
    expect(public_(unknown)).toEqual(public_(wrong))
    expect(wrong.cookies).toEqual([])
  })

  test('the session is a cookie of this host alone, and a digest in the store', async () => {
    const email = await person()
    const browser = admin.browser()
    expect((await browser.query('auth.me')).status).toBe(401)
    const answer = await browser.logIn(email.toUpperCase())
    expect(answer.data).toEqual({ next: 'done' })
    const cookie = answer.cookies.find((line) => line.startsWith(`${SESSION}=`)) ?? ''
    expect(cookie.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
    const token = browser.jar.get(SESSION) ?? ''
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    const stored = await stores.db.collection(SESSIONS).find().toArray()
    expect(stored.map(({ _id }) => _id)).toContain(createHash('sha256').update(token).digest('hex'))
    expect(JSON.stringify(stored)).not.toContain(token)
    const me = await browser.query('auth.me')
    expect(me.data).toMatchObject({
      email,
      hasAuthenticator: false,
      workspaces: [{ id: admin.workspaceId, role: 'owner' }],
    })
    await browser.mutate('auth.logOut')
    expect(browser.jar.has(SESSION)).toBe(false)
    browser.jar.set(SESSION, token)
    expect((await browser.query('auth.me')).status).toBe(401)
  })

  // Guarantee: a page of another origin cannot make a browser of ours act.
  test('changes are taken from pages of our own origin only', async () => {
    const browser = admin.browser()
    const input = { email: await person(), password: PASSWORD }
    expect((await browser.mutate('auth.logIn', input, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await browser.mutate('auth.logIn', input, { origin: 'null' })).status).toBe(403)
    expect((await browser.mutate('auth.logIn', input, { origin: ADMIN_ORIGIN })).status).toBe(200)
  })

  test('a browser that was not used before is announced by mail, a known one is not', async () => {
    const email = await person()
    const browser = admin.browser()
    await browser.logIn(email)
    await browser.mutate('auth.logOut')
    await browser.logIn(email)
    expect(await mailsTo(email)).toEqual(['login_new_device'])
    await admin.browser().logIn(email)
    expect(await mailsTo(email)).toEqual(['login_new_device', 'login_new_device'])
  })

  test('log-ins and failures are in the audit trail', async () => {
    const email = await person()
    await admin.browser().logIn(email, 'not the password')
    await admin.browser().logIn(email)
    const user = await stores.db.collection(USERS).findOne({ email })
    const rows = await stores.db
      .collection(AUDIT_LOG)
      .find({ subject: user?._id ?? '' })
      .toArray()
    expect(rows.map(({ action }) => action).sort()).toEqual([
      'auth.log_in_failed',
      'auth.logged_in',
      'member.joined',
      'operator.created',
    ])
  })
})

describe('the life of a session', () => {
  test('it ends after 30 minutes without its person, whatever the page asks by itself', async () => {
    const browser = admin.browser()
    await browser.logIn(await person())
    for (let step = 0; step < 3; step += 1) {
      admin.advance(20 * MINUTE)
      expect((await browser.query('auth.me')).status).toBe(200)
    }
    admin.advance(20 * MINUTE)
    expect((await browser.query('auth.me', null, { 'x-idle-seconds': '1200' })).status).toBe(200)
    admin.advance(11 * MINUTE)
    expect((await browser.query('auth.me')).status).toBe(401)
  })

  test('it ends after 12 hours whatever happens', async () => {
    const browser = admin.browser()
    await browser.logIn(await person())
    for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
      admin.advance(20 * MINUTE)
      expect((await browser.query('auth.me')).status).toBe(200)
    }
    admin.advance(20 * MINUTE)
    expect((await browser.query('auth.me')).status).toBe(401)
  })

  // Guarantee: a page that was shown to one person acts for no other person who logged in beside it.
  test('an action from a page of another person is refused, and the session goes on', async () => {
    const browser = admin.browser()
    await browser.logIn(await person())
    const { userId } = (await browser.query('auth.me')).data
    const end = (shownTo: string) => browser.mutate('auth.endSessions', { loginId: null }, { 'x-user-id': shownTo })
    expect((await end('019aa000-0000-7000-8000-000000000000')).status).toBe(401)
    expect((await end(`${userId}, ${userId}`)).status).toBe(401)
    expect((await end(userId)).status).toBe(200)
    expect((await end('')).status).toBe(200)
  })

  test('own log-ins can be seen and ended, those of others cannot', async () => {
    const email = await person()
    const [here, there, stranger] = [admin.browser(), admin.browser(), admin.browser()]
    await here.logIn(email)
    await there.logIn(email)
    await stranger.logIn(await person())
    const { data } = await here.query('auth.sessions')
    expect(data.map(({ isThis }: { isThis: boolean }) => isThis).sort()).toEqual([false, true])
    const other = data.find(({ isThis }: { isThis: boolean }) => !isThis)
    await stranger.mutate('auth.endSessions', { loginId: other.loginId })
    expect((await there.query('auth.me')).status).toBe(200)
    expect((await here.mutate('auth.endSessions', { loginId: null })).data).toEqual({ ended: 1 })
    expect((await there.query('auth.me')).status).toBe(401)
    expect((await here.query('auth.me')).status).toBe(200)
  })

  test('a new password ends every log-in; the browser that chose it goes on under a new token', async () => {
    const email = await person()
    const [here, there] = [admin.browser(), admin.browser()]
    await here.logIn(email)
    await there.logIn(email)
    const before = here.jar.get(SESSION)
    const change = { password: PASSWORD, next: 'other words are better' }
    expect((await here.mutate('auth.changePassword', { ...change, password: 'wrong' })).status).toBe(400)
    for (const bad of ['short', email, 'password123456', 'aaaaaaaaaaaaaaaa'])
      expect((await here.mutate('auth.changePassword', { ...change, next: bad })).status).toBe(400)
    expect((await here.mutate('auth.changePassword', change)).status).toBe(200)
    expect(here.jar.get(SESSION)).not.toBe(before)
    expect((await here.query('auth.me')).status).toBe(200)
    expect((await there.query('auth.me')).status).toBe(401)
    expect((await there.logIn(email)).status).toBe(401)
    expect((await there.logIn(email, change.next)).status).toBe(200)
    expect(await mailsTo(email)).toContain('account_changed')
  })
})

describe('the second factor', () => {
  // Guarantee: with an authenticator, a password opens nothing by itself, and a code counts once.
  test('a log-in asks for a code, and takes each code once', async () => {
    const email = await person()
    const browser = admin.browser()
    await browser.logIn(email)
    const token = browser.jar.get(SESSION)
    const { secret } = await enrol(browser)
    expect(browser.jar.get(SESSION)).not.toBe(token)
    expect(JSON.stringify(await stores.db.collection(USERS).findOne({ email }))).not.toContain(secret)

    const [one, two] = [admin.browser(), admin.browser()]
    expect((await one.logIn(email)).data).toEqual({ next: 'code' })
    expect((await one.query('auth.state')).data).toEqual({ state: 'code' })
    expect((await one.query('auth.me')).status).toBe(401)
    expect((await one.query('members.list', admin.at)).status).toBe(401)
    await two.logIn(email)
    const cookie = one.jar.get(SESSION) ?? ''
    const code = await admin.codeOf(secret)
    const answers = await Promise.all([one, two].map((each) => each.mutate('auth.giveCode', { code })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const winner = answers[0]?.status === 200 ? one : two
    expect((await winner.query('auth.me')).data).toMatchObject({ hasAuthenticator: true })
    expect(winner.jar.get(SESSION)).not.toBe(cookie)
    const late = admin.browser()
    await late.logIn(email)
    expect((await late.mutate('auth.giveCode', { code })).status).toBe(400)
    expect((await late.mutate('auth.giveCode', { code: await admin.codeOf(secret, 1) })).status).toBe(200)
    admin.advance(60_000)
  })

  test('a recovery code takes its place once, and is announced', async () => {
    const email = await person()
    const browser = admin.browser()
    await browser.logIn(email)
    const { recoveryCodes } = await enrol(browser)
    expect(recoveryCodes).toHaveLength(10)
    const lost = admin.browser()
    await lost.logIn(email)
    const code = (recoveryCodes[3] ?? '').toUpperCase().replace('-', ' ')
    expect((await lost.mutate('auth.giveRecoveryCode', { code })).status).toBe(200)
    expect((await lost.query('auth.security')).data).toMatchObject({ recoveryCodesLeft: 9 })
    const again = admin.browser()
    await again.logIn(email)
    expect((await again.mutate('auth.giveRecoveryCode', { code })).status).toBe(400)
    expect(await mailsTo(email)).toContain('recovery_code_used')
  })

  test('an open session alone cannot change the authenticator', async () => {
    const email = await person()
    const browser = admin.browser()
    await browser.logIn(email)
    const { recoveryCodes } = await enrol(browser)
    const begin = (input: object) => browser.mutate('auth.beginEnrolment', { password: PASSWORD, code: null, ...input })
    expect((await begin({})).status).toBe(400)
    expect((await begin({ password: 'wrong', code: recoveryCodes[0] })).status).toBe(400)
    expect((await begin({ code: recoveryCodes[0] })).status).toBe(200)
  })

  test('dangerous actions are allowed for five minutes after a fresh code, under a new token', async () => {
    const email = await person()
    const browser = admin.browser()
    await browser.logIn(email)
    const { secret } = await enrol(browser)
    admin.advance(5 * MINUTE)
    const action = { ...admin.at, opId: admin.deps.random.uuid(), name: 'Shop', scopes: ['invoices:read'] }
    const refused = await browser.mutate('apiKeys.create', action)
    expect(refused.error.data).toMatchObject({ code: 'FORBIDDEN', details: [{ path: 'stepUp', message: 'needed' }] })
    const before = browser.jar.get(SESSION) ?? ''
    const code = await admin.codeOf(secret)
    expect((await browser.mutate('auth.stepUp', { code })).status).toBe(200)
    expect((await browser.mutate('auth.stepUp', { code })).status).toBe(400)
    expect((await browser.mutate('apiKeys.create', action)).status).toBe(200)

    const former = admin.browser()
    former.jar.set(SESSION, before)
    expect((await former.query('auth.me')).status).toBe(200)
    expect((await former.mutate('apiKeys.create', action)).status).toBe(403)
    admin.advance(10_000)
    expect((await former.query('auth.me')).status).toBe(401)
    admin.advance(5 * MINUTE)
    expect((await browser.mutate('apiKeys.create', action)).status).toBe(403)
  })
})
