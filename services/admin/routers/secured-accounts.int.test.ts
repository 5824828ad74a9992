import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { resetAuthenticator, resetPassword } from '#shared/usecases/accounts/manage-operators.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { adminCaller } from '#test/support/admin.ts'
import { ADMIN_ORIGIN, type AdminBrowser, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'

const NEXT = 'entirely other words here'
const MINUTE = 60_000
const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
let people = 0
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(() => admin.close())

async function person(): Promise<string> {
  people += 1
  admin.advance(70 * MINUTE)
  const email = `secured${people}@example.com`
  await admin.addPerson(email)
  return email
}

async function enrol(browser: AdminBrowser): Promise<readonly string[]> {
  const { data } = await browser.mutate('auth.beginEnrolment', { password: PASSWORD, code: null })
  const confirmed = await browser.mutate('auth.confirmEnrolment', { code: await admin.codeOf(data.secret) })
  expect(confirmed.status).toBe(200)
  return confirmed.data.recoveryCodes
}

/** Holds the next check of a password until it is released. */
function holdPassword(method: 'verify' | 'hash') {
  const { passwords } = admin.deps
  const original = passwords[method] as (...given: readonly (string | null)[]) => Promise<unknown>
  let begun: () => void = () => undefined
  let release: () => void = () => undefined
  const isHeld = new Promise<void>((resolve) => {
    begun = resolve
  })
  const isFree = new Promise<void>((resolve) => {
    release = resolve
  })
  const spy = vi.spyOn(passwords, method).mockImplementationOnce((async (...given: readonly (string | null)[]) => {
    spy.mockRestore()
    begun()
    await isFree
    return await original(...given)
  }) as never)
  return { isHeld, release }
}

const newBrowserMails = (to: string) => stores.db.collection(MAILS).countDocuments({ to, template: 'login_new_device' })

async function mailedToken(to: string, template: string): Promise<string> {
  const rows = stores.db.collection(MAILS).find({ to, template: template as never })
  const [stored] = await rows.sort({ createdAt: -1, _id: -1 }).limit(1).toArray()
  const mail = await openSealedMails(createMailQueue(stores.db), admin.deps.secretBox).findById(stored?._id ?? '')
  return /#(\S{43})/.exec(mail === null ? '' : renderMail(mail).text)?.[1] ?? ''
}

describe('a log-in that was in flight', () => {
  // Guarantee: who turns on the second factor because the password leaked leaves no log-in with the password alone behind.
  test('and waited for its turn in the lane of its source gets no session without a code', async () => {
    const email = await person()
    const [victim, attacker] = [admin.browser(), admin.browser()]
    await victim.logIn(email)
    const { isHeld, release } = holdPassword('verify')
    const wrong = admin.browser().logIn('nobody@example.com', 'not the password')
    await isHeld
    const seen = vi.spyOn(admin.deps.users, 'findByEmail')
    const right = attacker.logIn(email)
    await vi.waitFor(() => expect(seen).toHaveBeenCalledWith(email))
    seen.mockRestore()
    await enrol(victim)
    release()
    expect((await wrong).status).toBe(401)
    expect((await right).status).toBe(401)
    expect((await attacker.query('auth.state')).data).toEqual({ state: 'out' })
    expect((await attacker.logIn(email)).data).toEqual({ next: 'code' })
    expect((await victim.query('auth.me')).data).toMatchObject({ hasAuthenticator: true })
  })

  test('with a right password, while nothing happens to the account, goes on', async () => {
    const email = await person()
    const { isHeld, release } = holdPassword('verify')
    const browser = admin.browser()
    const answer = browser.logIn(email)
    await isHeld
    release()
    expect((await answer).data).toEqual({ next: 'done' })
    expect((await browser.query('auth.me')).status).toBe(200)
  })
})

describe('a change of the password that was in flight', () => {
  // Guarantee: an ended session does not come back, whatever it had asked for.
  test.each([
    ['all other log-ins are ended', null],
    ['just this log-in is ended', 'thief'],
  ])('does nothing once %s', async (_what, which) => {
    const email = await person()
    const [owner, thief] = [admin.browser(), admin.browser()]
    await owner.logIn(email)
    const [code] = await enrol(owner)
    await thief.logIn(email)
    await thief.mutate('auth.giveRecoveryCode', { code })
    const logins = (await owner.query('auth.sessions')).data as { loginId: string; isThis: boolean }[]
    const { isHeld, release } = holdPassword('hash')
    const change = thief.mutate('auth.changePassword', { password: PASSWORD, next: NEXT })
    await isHeld
    const loginId = which === null ? null : logins.find(({ isThis }) => !isThis)?.loginId
    expect((await owner.mutate('auth.endSessions', { loginId })).data).toEqual({ ended: 1 })
    release()
    expect((await change).status).toBe(401)
    expect((await thief.query('auth.state')).data).toEqual({ state: 'out' })
    expect((await owner.query('auth.me')).status).toBe(200)
    expect((await admin.browser().logIn(email, NEXT)).status).toBe(401)
  })
})

describe('an authenticator that was shown and not confirmed', () => {
  // Guarantee: whoever had the password once cannot set up the factor later with an open session alone.
  test.each([
    [
      'a new password',
      (browser: AdminBrowser) => browser.mutate('auth.changePassword', { password: PASSWORD, next: NEXT }),
    ],
    ['a log-out everywhere', (browser: AdminBrowser) => browser.mutate('auth.endSessions', { loginId: null })],
  ])('is void after %s', async (_what, secure) => {
    const email = await person()
    const [owner, thief] = [admin.browser(), admin.browser()]
    await owner.logIn(email)
    await thief.logIn(email)
    const { data } = await thief.mutate('auth.beginEnrolment', { password: PASSWORD, code: null })
    expect((await secure(owner)).status).toBe(200)
    const code = await admin.codeOf(data.secret)
    expect((await owner.mutate('auth.confirmEnrolment', { code })).status).toBe(409)
    expect((await owner.query('auth.me')).data).toMatchObject({ hasAuthenticator: false })
  })
})

// Guarantee: somebody with a stolen session cannot void the links that the owner asks for.
test('a link for a new password works after a log-out everywhere', async () => {
  const email = await person()
  const thief = admin.browser()
  await thief.logIn(email)
  await admin.browser().mutate('auth.requestReset', { email })
  const token = await mailedToken(email, 'password_reset_requested')
  expect((await thief.mutate('auth.endSessions', { loginId: null })).status).toBe(200)
  expect((await admin.browser().mutate('auth.resetPassword', { token, password: NEXT })).status).toBe(200)
  expect((await thief.query('auth.state')).data).toEqual({ state: 'out' })
})

describe('recognised browsers', () => {
  const reset = {
    'a link in a mail': async (email: string) => {
      await admin.browser().mutate('auth.requestReset', { email })
      const token = await mailedToken(email, 'password_reset_requested')
      expect((await admin.browser().mutate('auth.resetPassword', { token, password: NEXT })).status).toBe(200)
    },
    'a reset of the password by an operator': async (email: string) =>
      void (await resetPassword(admin.deps, { email, password: NEXT, actor: 'test' })),
    'a reset of the authenticator by an operator': async (email: string) => {
      const browser = admin.browser()
      await browser.logIn(email)
      await enrol(browser)
      await resetAuthenticator(admin.deps, { email, actor: 'test' })
    },
  }

  // Guarantee: after a reset the next log-in from a thief's browser is announced to the person.
  test.each(Object.entries(reset))('are all forgotten by %s', async (_what, act) => {
    const email = await person()
    const known = admin.browser()
    await known.logIn(email)
    await act(email)
    const before = await newBrowserMails(email)
    for (const password of [PASSWORD, NEXT]) await known.logIn(email, password)
    expect((await known.query('auth.state')).data).toEqual({ state: 'in' })
    expect(await newBrowserMails(email)).toBe(before + 1)
  })

  const own = {
    'a new password': async (browser: AdminBrowser) => {
      expect((await browser.mutate('auth.changePassword', { password: PASSWORD, next: NEXT })).status).toBe(200)
      return NEXT
    },
    'a new authenticator that is removed again': async (browser: AdminBrowser) => {
      await enrol(browser)
      expect((await browser.mutate('auth.removeAuthenticator', { opId: randomUUID() })).status).toBe(200)
      return PASSWORD
    },
  }

  test.each(Object.entries(own))('are forgotten by %s, but for the one in use', async (_what, act) => {
    const email = await person()
    const [here, there] = [admin.browser(), admin.browser()]
    await here.logIn(email)
    await there.logIn(email)
    const password = await act(here)
    await here.mutate('auth.logOut')
    const before = await newBrowserMails(email)
    expect((await here.logIn(email, password)).status).toBe(200)
    expect(await newBrowserMails(email)).toBe(before)
    expect((await there.logIn(email, password)).status).toBe(200)
    expect(await newBrowserMails(email)).toBe(before + 1)
  })
})

describe('a person who is removed', () => {
  const wired = () => ({
    ...{ stored: true, deps: () => ({ clock: admin.deps.clock }) },
    env: { PAYMESH_PUBLIC_ADMIN_URL: ADMIN_ORIGIN },
  })

  // Guarantee: somebody who was removed cannot come back with an invitation of before.
  test('cannot use another invitation of before, and is logged out when no access is left', async () => {
    const boss = await adminCaller(stores, { ...wired(), email: 'boss@example.com' })
    const email = `guest${randomUUID()}@example.com`
    const tokens = []
    for (const role of ['viewer', 'admin'] as const) {
      admin.advance(1)
      await boss.caller.members.invite({ ...boss.at, opId: randomUUID(), email, role })
      tokens.push(await mailedToken(email, 'member_invited'))
    }
    const guest = admin.browser()
    const join = (token: string | undefined) => ({ token, name: 'Gus', password: PASSWORD })
    expect((await guest.mutate('auth.acceptInvitation', join(tokens[0]))).status).toBe(200)
    const { userId } = (await guest.query('auth.me')).data
    await boss.caller.members.remove({ ...boss.at, opId: randomUUID(), userId, from: 'viewer' })
    expect((await guest.query('auth.me')).status).toBe(401)
    expect((await guest.logIn(email)).status).toBe(200)
    expect((await guest.mutate('auth.acceptInvitation', join(tokens[1]))).status).toBe(404)
    expect((await guest.query('auth.me')).data.workspaces).toEqual([])
  })

  test('from one of two workspaces goes on in the other', async () => {
    const email = await person()
    const boss = await adminCaller(stores, { ...wired(), email: 'boss@example.com' })
    await boss.caller.members.invite({ ...boss.at, opId: randomUUID(), email, role: 'viewer' })
    const browser = admin.browser()
    await browser.logIn(email)
    const join = { token: await mailedToken(email, 'member_invited'), name: null, password: null }
    expect((await browser.mutate('auth.acceptInvitation', join)).status).toBe(200)
    const { userId } = (await browser.query('auth.me')).data
    await boss.caller.members.remove({ ...boss.at, opId: randomUUID(), userId, from: 'viewer' })
    expect((await browser.query('auth.me')).data.workspaces).toHaveLength(1)
    expect((await browser.query('workspace.get', boss.at)).status).toBe(404)
  })
})
