import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PASSWORD_RESETS } from '#shared/db/accounts/operator-models.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { RESETS_MAX } from '#shared/usecases/accounts/reset-own-password.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { ADMIN_ORIGIN, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
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
  // What one source asked before is forgotten: no test meets the limit of another one.
  admin.advance(70 * MINUTE)
  const email = `forgetful${people}@example.com`
  await admin.addPerson(email)
  return email
}

const request = (email: string) => admin.browser().mutate('auth.requestReset', { email })
const choose = (token: string, password = NEXT) => admin.browser().mutate('auth.resetPassword', { token, password })
const linkMails = (to: string) =>
  stores.db.collection(MAILS).find({ to, template: 'password_reset_requested' }).sort({ createdAt: 1 }).toArray()

/** The tokens that were mailed to an address, the oldest first. */
async function tokens(to: string): Promise<readonly string[]> {
  const queue = openSealedMails(createMailQueue(stores.db), admin.deps.secretBox)
  const mails = await Promise.all((await linkMails(to)).map(({ _id }) => queue.findById(_id)))
  return mails.map(
    (mail) => new RegExp(`${ADMIN_ORIGIN}/reset#(\\S{43})`).exec(mail ? renderMail(mail).text : '')?.[1] ?? '',
  )
}

/** The owner changes the password on the account page, and continues there. */
async function changeOf(email: string): Promise<number> {
  const browser = admin.browser()
  await browser.logIn(email)
  const { status } = await browser.mutate('auth.changePassword', { password: PASSWORD, next: NEXT })
  expect((await browser.query('auth.me')).status).toBe(200)
  return status
}

async function mailed(email: string): Promise<string> {
  expect((await request(email)).status).toBe(200)
  return (await tokens(email)).at(-1) ?? ''
}

describe('a link for a new password', () => {
  // Guarantee: a link that was asked for before a change stays void after it, whatever the owner does next.
  test('of a former epoch does not come back with a log-out everywhere', async () => {
    const email = await person()
    const { insert } = admin.deps.resets
    const changed: number[] = []
    const spy = vi.spyOn(admin.deps.resets, 'insert').mockImplementationOnce(async (...given) => {
      changed.push(await changeOf(email))
      return await insert(...given)
    })
    const token = await mailed(email)
    spy.mockRestore()
    expect(changed).toEqual([200])
    expect((await choose(token)).status).toBe(404)
    const browser = admin.browser()
    await browser.logIn(email, NEXT)
    expect((await browser.mutate('auth.endSessions', { loginId: null })).status).toBe(200)
    expect((await choose(token, 'words of a thief who reads mail')).status).toBe(404)
    const open = await mailed(email)
    expect((await browser.mutate('auth.endSessions', { loginId: null })).status).toBe(200)
    expect((await choose(open, 'words of the owner, once more')).status).toBe(200)
  })

  // Guarantee: whoever reads the mail gets no further than the password: the second factor stays, and every session ends.
  test('replaces the password, ends every session, keeps the authenticator and mails the person', async () => {
    const email = await person()
    const browser = admin.browser()
    await browser.logIn(email)
    const { data } = await browser.mutate('auth.beginEnrolment', { password: PASSWORD, code: null })
    await browser.mutate('auth.confirmEnrolment', { code: await admin.codeOf(data.secret) })
    const token = await mailed(email.toUpperCase().toLowerCase())
    expect((await choose(token)).status).toBe(200)
    expect((await browser.query('auth.me')).status).toBe(401)
    expect((await admin.browser().logIn(email, PASSWORD)).status).toBe(401)
    const again = await admin.browser().mutate('auth.logIn', { email, password: NEXT })
    expect(again.data).toEqual({ next: 'code' })
    const changed = await stores.db.collection(MAILS).find({ to: email, template: 'account_changed' }).toArray()
    expect(changed.map(({ data: said }) => said['what']).join()).toContain('changed with a link')
  })

  // Guarantee: whoever has the old password is out, also with a log-in whose password was checked just before the reset.
  test.each(
    sampleOf(
      [
        ['a link', async (email: string) => (await choose(await mailed(email))).status],
        ['the account page', async (email: string) => await changeOf(email)],
      ],
      1,
    ),
  )('ends a log-in with the old password that is under way while %s changes it', async (_by, replace) => {
    const email = await person()
    const late = admin.browser()
    const { begin } = admin.deps.sessions
    const spy = vi.spyOn(admin.deps.sessions, 'begin').mockImplementationOnce(async (...given) => {
      spy.mockRestore()
      expect(await replace(email)).toBe(200)
      return await begin(...given)
    })
    await late.logIn(email)
    expect((await late.query('auth.me')).status).toBe(401)
    const fresh = admin.browser()
    await fresh.logIn(email, NEXT)
    expect((await fresh.query('auth.me')).status).toBe(200)
  })

  test('works once, also for two at the same time', async () => {
    const token = await mailed(await person())
    const answers = await Promise.all([choose(token), choose(token, 'a third set of words')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await choose(token)).status).toBe(404)
  })

  test('works for 30 minutes, and a password that is refused does not use it up', async () => {
    const late = await mailed(await person())
    admin.advance(30 * MINUTE)
    expect((await choose(late)).status).toBe(404)
    const token = await mailed(await person())
    expect((await choose(token, 'short')).status).toBe(400)
    admin.advance(29 * MINUTE)
    expect((await choose(token)).status).toBe(200)
    expect((await choose('A'.repeat(43))).status).toBe(404)
  })

  // Guarantee: a link that somebody asked for earlier does not undo a change that the owner made since.
  test('is void after any other change of the password, and after another link was used', async () => {
    const email = await person()
    const token = await mailed(email)
    const browser = admin.browser()
    await browser.logIn(email)
    const change = { password: PASSWORD, next: 'words of the owner alone' }
    expect((await browser.mutate('auth.changePassword', change)).status).toBe(200)
    expect((await choose(token)).status).toBe(404)
    const [first, second] = [await mailed(email), await mailed(email)]
    expect((await choose(second)).status).toBe(200)
    expect((await choose(first)).status).toBe(404)
    expect(await stores.db.collection(PASSWORD_RESETS).countDocuments({ tokenHash: first })).toBe(0)
  })

  test('is stored as a digest, and sealed in its mail', async () => {
    const email = await person()
    const token = await mailed(email)
    const stored = [await stores.db.collection(PASSWORD_RESETS).find().toArray(), await linkMails(email)]
    expect(JSON.stringify(stored)).not.toContain(token)
  })
})

describe('asking for a link', () => {
  // Guarantee: nobody learns from an answer, or from its time, whether an address has an account.
  test('is answered the same, and as late, for an unknown address and for one with enough links', async () => {
    const email = await person()
    const answers = []
    const waits = []
    for (const to of [email, 'nobody@example.com', 'not an address', ...Array(RESETS_MAX).fill(email)]) {
      const before = admin.waits.length
      answers.push(await request(to))
      waits.push(admin.waits.slice(before))
    }
    const [first] = answers
    expect(first).toMatchObject({ status: 200, data: {} })
    for (const answer of answers) expect(answer).toEqual(first)
    for (const wait of waits) expect(wait).toEqual([1_000])
    expect(await linkMails(email)).toHaveLength(RESETS_MAX)
    expect(await stores.db.collection(MAILS).countDocuments({ to: 'nobody@example.com' })).toBe(0)
  })

  // Guarantee: a stranger who asks in an owner's name neither floods the mailbox nor keeps the owner out.
  test('by a stranger leaves the owner with links that work', async () => {
    const email = await person()
    const all = await Promise.all(Array.from({ length: 8 }, () => request(email)))
    expect(all.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const sent = await tokens(email)
    expect(sent).toHaveLength(RESETS_MAX)
    expect((await choose(sent[0] ?? '')).status).toBe(200)
    admin.advance(31 * MINUTE)
    expect(await mailed(email)).not.toBe('')
  })

  deepTest('too often from one source waits, whatever the address', async () => {
    const email = await person()
    const statuses = []
    for (let count = 0; count < 22; count += 1)
      statuses.push((await request(count % 2 === 0 ? email : 'x@example.com')).status)
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(200))
    expect(statuses).toContain(429)
    admin.advance(MINUTE)
    expect((await request(email)).status).toBe(200)
  })
})
