import { randomUUID } from 'node:crypto'
import { TRPCError } from '@trpc/server'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ADMIN_ORIGIN, openAdmin } from '#test/support/admin-http.ts'
import { accountAddresses } from '#test/support/fresh-key.ts'
import { useStores } from '#test/support/stores.ts'
import { appRouter } from './app-router.ts'
import { type AdminContext, createCallerFactory, type ProcedureMeta } from './trpc.ts'
import { budgetOf, createWorkBudgets, type Work } from './work-budgets.ts'

/** A PNG file of one pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPg9g8HAAEaALLlOoLxAAAAAElFTkSuQmCC'
const TOKEN = 'a'.repeat(43)
const wallet = { family: 'evm', kind: 'address', value: accountAddresses(9, 1)[0] ?? '' }
const password = 'five words are even better'
const proof = { nonce: 'ab'.repeat(16), signatures: [{ address: '', signature: '0x00' }] }

/** Complete inputs of the procedures that do expensive work, beside workspace, mode and operation id. */
const INPUTS: Readonly<Record<string, object>> = {
  'workspace.setLogo': { version: 0, image: DOT },
  'wallets.prepare': wallet,
  'wallets.add': wallet,
  'wallets.challenge': { about: { entered: wallet } },
  'wallets.prove': { walletId: randomUUID(), proof },
  'diagnostics.explain': { q: 'nothing' },
  'auth.beginEnrolment': { password, code: null },
  'auth.changePassword': { password, next: password },
  'auth.resetPassword': { token: TOKEN, password },
  'auth.acceptInvitation': { token: TOKEN, name: 'Paz', password },
}
type Procedures = Readonly<Record<string, { readonly _def: { readonly meta: ProcedureMeta } }>>
const COSTLY = Object.entries(appRouter._def.procedures as unknown as Procedures).flatMap(([path, { _def }]) =>
  _def.meta.work === undefined ? [] : [[path, _def.meta.work, _def.meta] as const],
)

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
let people: { readonly userId: string; readonly email: string }[]
let now = 0
beforeAll(async () => {
  admin = await openAdmin(stores)
  const found = [await admin.addPerson('ana@example.com'), await admin.addPerson('luis@example.com')]
  people = found.map(({ id: userId, email }) => ({ userId, email }))
})
beforeEach(() => {
  now += 10 * 600_000
  Object.assign(admin.deps, { budgets: createWorkBudgets(() => now) })
})
afterAll(() => admin.close())

/** The error code of a call by one of the two people, or by the holder of one of two mailed links; null when it was carried out. */
async function outcome(path: string, meta: ProcedureMeta, index: 0 | 1, fields: object = {}): Promise<string | null> {
  const { access, once } = meta
  const { userId = '', email = '' } = people[index] ?? {}
  const { deps, at, workspaceId } = admin
  const session = {
    ...{ id: 'ab'.repeat(32), loginId: `login ${userId}`, userId, email, name: 'Paz', isOperator: false },
    ...{ roles: new Map([[workspaceId, 'owner' as const]]), secondFactor: 'given' as const },
    securityEpoch: 0,
    steppedUpUntil: Number.MAX_SAFE_INTEGER,
  }
  const facts = { requestId: 'req_budget', ip: '127.0.0.1', userAgent: 'vitest', device: null }
  const nothing = () => undefined
  const context: AdminContext = {
    ...{ ...facts, deps, setSessionToken: nothing, setDevice: nothing },
    session: access === 'anyone' ? null : session,
  }
  let target: unknown = createCallerFactory(appRouter)(context)
  for (const name of path.split('.')) target = (target as Record<string, unknown>)[name]
  const input = {
    ...(access !== 'anyone' && access !== 'signedIn' && at),
    ...(once === true && { opId: randomUUID() }),
    ...INPUTS[path],
    ...fields,
    ...(access === 'anyone' && { token: ownerOf(meta, index) }),
  }
  try {
    await (target as (given: object) => Promise<unknown>)(input)
    return null
  } catch (error) {
    if (error instanceof TRPCError) return error.code
    throw error
  }
}

/** Whose budget a call of this person counts against. */
function ownerOf({ access, work }: ProcedureMeta, index: 0 | 1): string {
  if (access === 'anyone') return `${index}${TOKEN.slice(1)}`
  const { userId = '' } = people[index] ?? {}
  return work === 'hash' ? `login ${userId}` : userId
}

const limitsOf = (work: Work) => budgetOf(work)

describe('expensive work', () => {
  test('has a complete input here for every procedure that declares it', () => {
    expect(COSTLY.map(([path]) => path).sort()).toEqual(Object.keys(INPUTS).sort())
  })

  // Guarantee: who asks for too much at once is refused before the work, and nobody else is.
  test.each(COSTLY)(
    '%s (%s) is refused while its person has as much under way as they may',
    async (path, work, meta) => {
      const { deps } = admin
      const spies = [
        vi.spyOn(deps.passwords, 'hash'),
        vi.spyOn(deps.passwords, 'verify'),
        vi.spyOn(deps.logoReader, 'read'),
      ]
      const begun = vi.spyOn(deps.operationRegister, 'begin')
      const enter = () => deps.budgets.enter(work, ownerOf(meta, 0))
      const leave = Array.from({ length: limitsOf(work).perOwner }, enter)
      expect(await outcome(path, meta, 0)).toBe('TOO_MANY_REQUESTS')
      for (const spy of [...spies, begun]) expect(spy).not.toHaveBeenCalled()
      expect(await outcome(path, meta, 1)).not.toBe('TOO_MANY_REQUESTS')
      leave[0]?.()
      expect(await outcome(path, meta, 0)).not.toBe('TOO_MANY_REQUESTS')
      // The call itself released its place, whatever came of it.
      expect(enter).not.toThrow()
      expect(enter).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
      for (const spy of [...spies, begun]) spy.mockRestore()
    },
  )

  test.each(COSTLY.filter(([, work]) => limitsOf(work).begins !== undefined))(
    '%s (%s) is refused when its person began as much as they may in ten minutes',
    async (path, work, meta) => {
      for (let count = 0; count < (limitsOf(work).begins?.max ?? 0); count += 1)
        admin.deps.budgets.enter(work, ownerOf(meta, 0))()
      expect(await outcome(path, meta, 0)).toBe('TOO_MANY_REQUESTS')
      expect(await outcome(path, meta, 1)).not.toBe('TOO_MANY_REQUESTS')
      now += 600_001
      expect(await outcome(path, meta, 0)).not.toBe('TOO_MANY_REQUESTS')
    },
  )

  // Guarantee: a logo is decoded only for a change that can be stored: 200 at once cost one decoding.
  test('of 200 logos at once, as sent in batches, one is decoded, and none for an old version', async () => {
    const meta = COSTLY.find(([path]) => path === 'workspace.setLogo')?.[2]
    if (meta === undefined) throw new Error('a logo costs something')
    const read = vi.spyOn(admin.deps.logoReader, 'read')
    const version = (await admin.deps.workspaces.findById(admin.workspaceId))?.epoch
    const set = () => outcome('workspace.setLogo', meta, 0, { version })
    const all = await Promise.all(Array.from({ length: 200 }, set))
    expect([read.mock.calls.length, all.filter((one) => one === null)]).toEqual([1, [null]])
    expect(new Set(all)).toEqual(new Set([null, 'TOO_MANY_REQUESTS']))
    expect(await set()).toBe('CONFLICT')
    expect(read).toHaveBeenCalledTimes(1)
    read.mockRestore()
  })
})

describe('an export', () => {
  const request = async (email: string, what: string, fields = '') => {
    const browser = admin.browser()
    await browser.logIn(email)
    const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(`${admin.url}/export/${what}.csv`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: ADMIN_ORIGIN, cookie },
      body: `workspaceId=${admin.workspaceId}&mode=test${fields}`,
    })
    return [response.status, (await response.text()).split('\n')[0]] as const
  }

  // Guarantee: a person's files are read two at a time, and a refused one leaves no row that says it began.
  test.each(['invoices', 'payments', 'settlements'])(
    'of %s is refused beyond the budget of its person',
    async (what) => {
      const owner = people[0]?.userId ?? ''
      const recorded = vi.spyOn(admin.deps.exports, 'record')
      const leave = [1, 2].map(() => admin.deps.budgets.enter('export', owner))
      expect(await request('ana@example.com', what)).toEqual([429, expect.stringContaining('too many exports')])
      expect(recorded).not.toHaveBeenCalled()
      expect((await request('luis@example.com', what))[0]).toBe(200)
      leave[0]?.()
      expect((await request('ana@example.com', what))[0]).toBe(200)
      expect((await request('ana@example.com', what))[0]).toBe(200)
      recorded.mockRestore()
    },
  )

  test.each(['invoices', 'payments', 'settlements'])('of %s refuses fields that nobody declared', async (what) => {
    for (const field of ['&__proto__=x', '&constructor=x', '&unheard=1', '&workspaceId[a]=1'])
      expect(await request('ana@example.com', what, field)).toEqual([400, 'The export request is invalid.'])
  })
})
