import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type AdminBrowser, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { deepTest } from '#test/support/depth.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'

const MINUTE = 60_000
/** Wrong tries that are in flight at once: many more than are answered at a time. */
const FLOOD = EVERY_CASE ? 200 : 80

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
let people = 0
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(() => admin.close())

// Everybody here comes from one source: what one test did is forgotten before the next.
beforeEach(() => {
  admin.advance(25 * 60 * MINUTE)
  admin.waits.length = 0
})

/** A new person, so that no test meets another one's failures. */
async function person(): Promise<string> {
  people += 1
  const email = `person${people}@example.com`
  await admin.addPerson(email)
  return email
}

describe('passwords', () => {
  const guess = (email: string, count: number) =>
    Array.from({ length: count }, (_, index) => () => admin.browser().logIn(email, `guess number ${index}`)).reduce(
      async (before, next) => [...(await before), (await next()).status],
      Promise.resolve<number[]>([]),
    )

  // Guarantee: however often strangers guess, from wherever, the right password opens the account at once.
  test('an account answers wrong passwords at most 5 s late and never refuses the right one', async () => {
    const email = await person()
    expect(await guess(email, 12)).toEqual(Array.from({ length: 12 }, () => 401))
    expect(admin.waits).toEqual([1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000])
    expect((await admin.browser().logIn(email)).status).toBe(200)
    expect(admin.waits).toHaveLength(7)
    // The right password ended the count of the account.
    expect(await guess(email, 5)).toEqual([401, 401, 401, 401, 401])
    expect(admin.waits).toHaveLength(7)
  })

  test('unknown accounts are answered as late as known ones', async () => {
    await guess('ghost@example.com', 7)
    expect(admin.waits).toEqual([1_000, 2_000])
  })

  test('a source that guesses at many accounts gets slower answers, and is forgotten after an hour', async () => {
    for (let victim = 0; victim < 28; victim += 1) {
      expect((await admin.browser().logIn(`victim${victim}-${people}@example.com`)).status).toBe(401)
    }
    expect(admin.waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    const email = await person()
    expect((await admin.browser().logIn(email)).status).toBe(200)
    admin.advance(61 * MINUTE)
    await admin.browser().logIn(email, 'not the password')
    expect(admin.waits).toHaveLength(8)
  })

  // Guarantee: who guesses for days fills neither the audit log, which is kept for ever, nor the back-ups.
  test('the audit log keeps one failure an hour of a source and account, however many there are', async () => {
    const email = await person()
    const { id = '' } = (await admin.deps.users.findByEmail(email)) ?? {}
    const failures = async () =>
      (await admin.deps.audits.listBySubject(id)).filter(({ action }) => action === 'auth.log_in_failed')
    await guess(email, 6)
    expect(await failures()).toHaveLength(1)
    admin.advance(60 * MINUTE)
    await guess(email, 2)
    expect(await failures()).toHaveLength(2)
  })

  // Guarantee: an office behind one address gets in while somebody at that address guesses: no flood refuses the right password.
  test('a flood of wrong tries from one source keeps nobody of that source out, and is not checked once it hangs up', async () => {
    const email = await person()
    const own = admin.browser()
    await own.logIn(email)
    await own.mutate('auth.logOut')
    const recorded = vi.spyOn(admin.deps.audits, 'insertMany')
    await guess(email, 21)
    const release = admin.holdAnswers()
    const arrived = vi.spyOn(admin.deps.lanes, 'evaluate')
    const cut = new AbortController()
    const flood = Array.from({ length: FLOOD }, () => admin.browser().logIn(email, 'a wrong password', cut.signal))
    await vi.waitFor(() => expect(arrived).toHaveBeenCalledTimes(FLOOD))
    expect((await admin.browser().logIn(email)).status).toBe(200)
    expect((await own.logIn(email)).status).toBe(200)
    // Both overtook tries that were there before them.
    expect(admin.waits.length).toBeLessThan(0.75 * FLOOD)
    cut.abort()
    expect((await Promise.allSettled(flood)).every(({ status }) => status === 'rejected')).toBe(true)
    const gone = await Promise.allSettled(arrived.mock.results.map(({ value }) => value))
    expect(gone.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
    // Each failure that was checked, and no other one, reached the audit log, which keeps one of them.
    expect(recorded).toHaveBeenCalledTimes(5 + admin.waits.length)
    const { id = '' } = (await admin.deps.users.findByEmail(email)) ?? {}
    const failed = (await admin.deps.audits.listBySubject(id)).filter(({ action }) => action === 'auth.log_in_failed')
    expect(failed).toHaveLength(1)
    recorded.mockRestore()
    release()
  })

  // Guarantee: who sends tries and hangs up leaves nothing in memory, at any page that takes a secret without a log-in.
  test.each([
    ['auth.resetPassword', { password: 'five words are even better' }],
    ['auth.acceptInvitation', { password: 'five words are even better', name: 'Paz' }],
    ['auth.invitation', {}],
  ])('a flood of links to %s waits no longer once it hangs up', async (path, fields) => {
    const arrived = vi.spyOn(admin.deps.lanes, 'evaluate').mockClear()
    const cut = new AbortController()
    const send = (index: number) =>
      admin.browser().mutate(path, { ...fields, token: `${index}`.padStart(43, 'x') }, {}, cut.signal)
    let free: () => void = () => undefined
    const taken = new Promise<void>((resolve) => {
      free = resolve
    })
    const lane = path === 'auth.resetPassword' ? 'reset-link' : 'invitation'
    const first = admin.deps.lanes.evaluate(
      `${lane}:127.0.0.1`,
      async () => {
        await taken
        return { answer: null, restMs: 0 }
      },
      null,
    )
    const flood = Array.from({ length: 20 }, (_, index) => send(index))
    await vi.waitFor(() => expect(arrived).toHaveBeenCalledTimes(21))
    cut.abort()
    await Promise.allSettled(flood)
    const [, ...waiting] = arrived.mock.results.map(({ value }) => value as Promise<unknown>)
    const gone = await Promise.race([Promise.allSettled(waiting), first.then(() => [])])
    expect(gone.map(({ status }) => status)).toEqual(waiting.map(() => 'rejected'))
    free()
    await first
    arrived.mockRestore()
  })

  deepTest(
    'a stolen mark of a browser costs its guesser up to 5 s for each answer, and makes nobody else wait',
    async () => {
      const email = await person()
      const own = admin.browser()
      await own.logIn(email)
      await own.mutate('auth.logOut')
      for (let index = 0; index < 8; index += 1) await own.logIn(email, `guess number ${index}`)
      expect(admin.waits).toEqual([1_000, 2_000, 4_000])
      const release = admin.holdAnswers()
      const held = [1, 2].map(() => own.logIn(email, 'a wrong password'))
      await vi.waitFor(() => expect(admin.waits).toHaveLength(5))
      expect((await own.logIn(email)).status).toBe(200)
      expect((await admin.browser().logIn(email)).status).toBe(200)
      release()
      expect((await Promise.all(held)).map(({ status }) => status)).toEqual([401, 401])
      expect(admin.waits.slice(3)).toEqual([5_000, 5_000])
    },
  )

  test('wrong passwords of a person who is logged in wait as well, and the right one is taken', async () => {
    const browser = admin.browser()
    await browser.logIn(await person())
    const begin = (password: string) => browser.mutate('auth.beginEnrolment', { password, code: null })
    for (let index = 0; index < 7; index += 1) expect((await begin(`guess number ${index}`)).status).toBe(400)
    expect(admin.waits).toEqual([1_000, 2_000])
    expect((await begin(PASSWORD)).status).toBe(200)
  })
})

describe('codes', () => {
  /** A person with an authenticator, the browser that set it up, and its secret. */
  async function withAuthenticator() {
    const email = await person()
    const own = admin.browser()
    await own.logIn(email)
    const { data } = await own.mutate('auth.beginEnrolment', { password: PASSWORD, code: null })
    await own.mutate('auth.confirmEnrolment', { code: await admin.codeOf(data.secret) })
    admin.advance(MINUTE)
    return { email, own, secret: data.secret as string }
  }
  const guesses = async (browser: AdminBrowser, path: string, count: number) => {
    const statuses: number[] = []
    for (let index = 0; index < count; index += 1)
      statuses.push((await browser.mutate(path, { code: '000000' })).status)
    return statuses
  }
  const wrong = (count: number) => Array.from({ length: count }, () => 400)

  // Guarantee: six digits cannot be found by trying: at most 11 tries in the first minute, 4 an hour in the long run.
  test('tries at a code are bounded, also from many log-ins at once', async () => {
    const { email } = await withAuthenticator()
    const guessers = [admin.browser(), admin.browser()]
    for (const guesser of guessers) await guesser.logIn(email)
    const tries = async (count: number) => {
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) => guessers[index % 2]?.mutate('auth.giveCode', { code: '000000' })),
      )
      return answers.filter((answer) => answer?.status === 400).length
    }
    let evaluated = await tries(10)
    for (let second = 0; second < 60; second += 1) {
      admin.advance(1_000)
      evaluated += await tries(2)
    }
    expect(evaluated).toBeLessThanOrEqual(11)
    for (let minute = 0; minute < 60; minute += 5) {
      admin.advance(5 * MINUTE)
      for (const guesser of guessers) await guesser.logIn(email)
      evaluated += await tries(2)
    }
    expect(evaluated).toBeLessThanOrEqual(11 + 8)
  })

  // Guarantee: somebody who has the password can keep neither the owner's browser nor an open session from its code.
  deepTest('codes of strangers, of a known browser, of step-up and recovery codes count apart', async () => {
    const { email, own, secret } = await withAuthenticator()
    const stranger = admin.browser()
    await stranger.logIn(email)
    expect(await guesses(stranger, 'auth.giveCode', 8)).toEqual([...wrong(6), 429, 429])
    expect(await guesses(stranger, 'auth.giveRecoveryCode', 7)).toEqual([...wrong(6), 429])
    expect((await own.mutate('auth.stepUp', { code: await admin.codeOf(secret) })).status).toBe(200)
    admin.advance(MINUTE)
    expect(await guesses(own, 'auth.stepUp', 7)).toEqual([...wrong(6), 429])
    await own.mutate('auth.logOut')
    expect((await own.logIn(email)).data).toEqual({ next: 'code' })
    expect((await own.mutate('auth.giveCode', { code: await admin.codeOf(secret) })).status).toBe(200)
  })

  test('wrong passwords do not make a code wait, nor wrong codes a password', async () => {
    const { email, secret } = await withAuthenticator()
    for (let index = 0; index < 9; index += 1) await admin.browser().logIn(email, `guess number ${index}`)
    const browser = admin.browser()
    expect((await browser.logIn(email)).data).toEqual({ next: 'code' })
    admin.waits.length = 0
    expect(await guesses(browser, 'auth.giveCode', 6)).toEqual(wrong(6))
    expect((await admin.browser().logIn(email)).data).toEqual({ next: 'code' })
    expect(admin.waits).toEqual([])
    admin.advance(MINUTE)
    expect((await browser.mutate('auth.giveCode', { code: await admin.codeOf(secret) })).status).toBe(200)
  })
})
