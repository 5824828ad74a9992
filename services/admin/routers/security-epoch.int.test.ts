import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { USERS } from '#shared/db/accounts/operator-models.ts'
import { inviteMember } from '#shared/usecases/accounts/invite-member.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { ADMIN_ORIGIN, type AdminAnswer, type AdminBrowser, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { appRouter } from '../app-router.ts'
import { EPOCH_EVENTS, type EpochPerson, epochPerson, interruptible, tokenTo } from '../epoch-stage.fixture.ts'
import { createCallerFactory, openProcedure, type ProcedureMeta, router } from '../trpc.ts'

const CHOSEN = 'words of the one who waits'
const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
let owner: AdminCaller
let stage: ReturnType<typeof interruptible>
beforeAll(async () => {
  admin = await openAdmin(stores)
  const wired = { stored: true, email: 'boss@example.com', deps: () => ({ clock: admin.deps.clock }) }
  owner = await adminCaller(stores, { ...wired, env: { PAYMESH_PUBLIC_ADMIN_URL: ADMIN_ORIGIN } })
  stage = interruptible(admin)
})
afterAll(() => admin.close())

/** A request that will be interrupted, and the browser that sends it. */
interface PendingCall {
  readonly browser: AdminBrowser
  send(): Promise<AdminAnswer>
}
interface Scenario {
  /** The person has an authenticator in each case; otherwise only where the event needs one. */
  readonly hasFactor?: true
  /** The browser is logged in before the request. */
  readonly hasLogin?: true
  prepare(person: EpochPerson): Promise<PendingCall>
}

const inSession = (path: string, input: (person: EpochPerson) => object | Promise<object>): Scenario => ({
  hasFactor: true,
  hasLogin: true,
  prepare: async (person) => {
    const given = await input(person)
    return { browser: person.here, send: () => person.here.mutate(path, given) }
  },
})

const withCode = (path: string, code: (person: EpochPerson) => string | undefined | Promise<string>): Scenario => ({
  hasFactor: true,
  hasLogin: true,
  prepare: async (person) => {
    const browser = admin.browser()
    await browser.logIn(person.email)
    const given = { code: await code(person) }
    return { browser, send: () => browser.mutate(path, given) }
  },
})

/** How each procedure that declares `underEpoch` is called by somebody who may. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'auth.logIn': {
    prepare: async ({ email }) => {
      const browser = admin.browser()
      return { browser, send: () => browser.logIn(email) }
    },
  },
  'auth.giveCode': withCode('auth.giveCode', ({ secret }) => admin.codeOf(secret, 1)),
  'auth.giveRecoveryCode': withCode('auth.giveRecoveryCode', ({ recoveryCodes }) => recoveryCodes[2]),
  'auth.stepUp': inSession('auth.stepUp', async ({ secret }) => ({ code: await admin.codeOf(secret, 1) })),
  'auth.beginEnrolment': inSession('auth.beginEnrolment', ({ recoveryCodes }) => ({
    ...{ password: PASSWORD, code: recoveryCodes[2] },
  })),
  'auth.confirmEnrolment': inSession('auth.confirmEnrolment', async ({ here, recoveryCodes }) => {
    const begun = await here.mutate('auth.beginEnrolment', { password: PASSWORD, code: recoveryCodes[2] })
    return { code: await admin.codeOf(begun.data.secret) }
  }),
  'auth.removeAuthenticator': inSession('auth.removeAuthenticator', () => ({ opId: randomUUID() })),
  'auth.renewRecoveryCodes': inSession('auth.renewRecoveryCodes', () => ({ opId: randomUUID() })),
  'auth.changePassword': inSession('auth.changePassword', () => ({ password: PASSWORD, next: CHOSEN })),
  'auth.endSessions': inSession('auth.endSessions', () => ({ loginId: null })),
  'auth.resetPassword': {
    prepare: async ({ resetToken: token }) => {
      const browser = admin.browser()
      return { browser, send: () => browser.mutate('auth.resetPassword', { token, password: CHOSEN }) }
    },
  },
  'auth.acceptInvitation': {
    hasLogin: true,
    prepare: async ({ email, here: browser }) => {
      const { session, workspaceId: id } = owner
      const inviter = { id: session.userId, name: session.name }
      const action = { opId: randomUUID(), actor: 'test', reason: null }
      const about = { workspace: { id, name: 'Shop' }, email, role: 'admin', inviter, publicUrl: ADMIN_ORIGIN } as const
      await inviteMember(stage.deps, { ...about, action })
      const join = { token: await tokenTo(stores, admin, email, 'member_invited'), name: null, password: null }
      return { browser, send: () => browser.mutate('auth.acceptInvitation', join) }
    },
  },
}

/** Calls that change the person, a session or a membership; spending a code decides nothing. */
const isDecisive = (call: string) =>
  /^(users|sessions|resets|invitations)\.(?!find|list|touch|useTotpStep|useRecoveryHash)/.test(call)
const undisturbed = new Map<string, Promise<readonly string[]>>()
/** The calls of a request that nothing interrupts. */
async function callsOf(name: string, prepare: () => Promise<PendingCall>): Promise<readonly string[]> {
  const calls =
    undisturbed.get(name) ??
    prepare().then(async ({ send }) => (await stage.during(send, -1, async () => undefined)).calls)
  undisturbed.set(name, calls)
  return await calls
}
/** What is stored of a person but for the codes that were spent: one that was given is spent, whatever comes of it. */
async function decidedOn(id: string): Promise<unknown> {
  const stored = await stores.db.collection(USERS).findOne({ _id: id })
  return { ...stored, recoveryHashes: [], totp: stored?.totp?.sealedSecret }
}
const stateOf = async ({ query }: AdminBrowser) => (await query('auth.state')).data.state

/** The events that every run tries; the stage `cases` tries all. */
const ALWAYS = ['factor enabled', 'factor reset', 'password changed', 'logged out everywhere', 'removed']
const CASES = Object.entries(SCENARIOS).flatMap(([path, scenario], row) =>
  Object.entries(EPOCH_EVENTS)
    .filter(([, event]) => event.needsLogin !== true || scenario.hasLogin === true)
    .filter(([name]) => EVERY_CASE || ALWAYS.includes(name))
    // In `npm test` two events for each procedure, others for the next one, so that every row and every column is there.
    .filter((_, column, all) => EVERY_CASE || [2 * row, 2 * row + 1].some((place) => place % all.length === column))
    .map(([name, event]) => [path, name, scenario, event] as const),
)

describe('what is decided on a person dies with the epoch that it was read at', () => {
  test('every procedure that declares it is in the table', () => {
    const procedures = appRouter._def.procedures as unknown as Readonly<
      Record<string, { readonly _def: { readonly meta?: ProcedureMeta } }>
    >
    const declared = Object.entries(procedures).flatMap(([path, { _def }]) => (_def.meta?.underEpoch ? [path] : []))
    expect(Object.keys(SCENARIOS).sort()).toEqual(declared.sort())
  })

  test('a procedure that does not declare it cannot give a browser a session', async () => {
    const lax = openProcedure.mutation(({ ctx }) => ctx.setSessionToken('a token'))
    const given: (string | null)[] = []
    const facts = { requestId: 'req_lax', ip: '127.0.0.1', userAgent: 'vitest', device: null, session: null }
    const context = { ...facts, deps: admin.deps, setDevice: () => undefined }
    const caller = createCallerFactory(router({ lax }))({
      ...context,
      setSessionToken: (token) => void given.push(token),
    })
    await expect(caller.lax()).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' })
    expect(given).toEqual([])
  })

  test.each(Object.entries(SCENARIOS))(
    '%s works without an event, and shows where it can be interrupted',
    async (path, scenario) => {
      const person = await epochPerson(stores, admin, scenario.hasFactor === true)
      const { browser, send } = await scenario.prepare(person)
      const { answer, calls } = await stage.during(send, -1, async () => undefined)
      undisturbed.set(`${path} ${scenario.hasFactor === true}`, Promise.resolve(calls))
      expect(answer.status).toBe(200)
      expect(calls.some(isDecisive)).toBe(true)
      if (scenario.hasLogin === true) expect(await stateOf(browser)).toBe('in')
    },
  )

  // Guarantee: whatever waited while its person was secured is refused, changes nothing, and leaves no session.
  test.each(CASES)('%s × %s', async (path, _name, scenario, event) => {
    const hasFactor = scenario.hasFactor === true || event.needsFactor === true
    const prepared = async () => {
      const person = await epochPerson(stores, admin, hasFactor)
      return { person, ...(await scenario.prepare(person)) }
    }
    const calls = await callsOf(`${path} ${hasFactor}`, prepared)
    const decisive = calls.findIndex(isDecisive)
    // In `npm test` just before the write that carries it out; in the stage `cases` at every moment after its first read.
    const [first, last] = EVERY_CASE ? [1, calls.findLastIndex(isDecisive)] : [decisive, decisive]
    for (let at = first; at <= last; at += 1) {
      const { person, browser, send } = await prepared()
      let secured: unknown = null
      const { answer } = await stage.during(send, at, async () => {
        // Behind the first write every other log-in has ended: only who needs none can act then.
        if (at > decisive && event.needsElsewhere === true) return
        if ((await event.run(admin, stage.deps, person, browser)) !== false) secured = await decidedOn(person.id)
      })
      if (at > decisive && secured === null) continue
      const moment = `${path} at ${calls[at]}`
      expect([moment, await stateOf(browser)]).toEqual([moment, 'out'])
      expect([moment, answer.status >= 400 && answer.status < 500]).toEqual([moment, true])
      expect([moment, await decidedOn(person.id)]).toEqual([moment, secured])
    }
  })
})
