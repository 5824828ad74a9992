import { createTRPCClient, httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { EXCEPTION_VIEWERS } from '#shared/db/exception-viewer-model.ts'
import { createExceptionViewers } from '#shared/db/exception-viewers.ts'
import { MEMBERSHIPS } from '#shared/db/operator-models.ts'
import { adminCaller } from '#test/support/admin.ts'
import { openAdmin } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'
import type { AppRouter } from '../app-router.ts'
import { LIVE_VIEW_MS_MAX } from '../trpc.ts'

const stores = useStores()
let here: Awaited<ReturnType<typeof openAdmin>>
let closing: (() => void)[] = []
let number = 0

beforeAll(async () => {
  here = await openAdmin(stores)
})
afterEach(() => {
  for (const close of closing) close()
  closing = []
})
afterAll(async () => {
  await here.close()
})

const rows = () => stores.db.collection(EXCEPTION_VIEWERS)

async function openEntry(): Promise<string> {
  number += 1
  const id = `unmatched:viewers-${number}`
  const about = { workspaceId: here.workspaceId, mode: 'test' as const, invoiceId: null, paymentKey: null }
  const openedAt = here.deps.clock.now()
  await createExceptionRepository(stores.db).open([
    { id, kind: 'unmatched', ...about, detail: 'Nobody asked for it.', openedAt, closedAt: null },
  ])
  return id
}

/** A colleague who is logged in; `open` is one tab of theirs with an entry in front. */
async function colleague(name: string) {
  const email = `${name.toLowerCase()}@example.com`
  const { id: userId } = await here.addPerson(email, 'viewer')
  const browser = here.browser()
  await browser.logIn(email)
  const cookie = [...browser.jar].map(([key, value]) => `${key}=${value}`).join('; ')
  class WithCookie extends EventSource {
    constructor(url: string | URL) {
      super(url, { fetch: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, cookie } }) })
    }
  }
  const link = httpSubscriptionLink({ url: `${here.url}/trpc`, EventSource: WithCookie })
  const client = createTRPCClient<AppRouter>({ links: [link] })
  const open = (id: string, at = here.at) => {
    const heard: (readonly string[])[] = []
    const failures: unknown[] = []
    const subscription = client.exceptions.viewers.subscribe(
      { ...at, id },
      { onData: (names) => heard.push(names), onError: (error) => failures.push(error) },
    )
    closing.push(() => subscription.unsubscribe())
    return { heard, failures, sees: () => heard.at(-1), close: () => subscription.unsubscribe() }
  }
  return { userId, open }
}

test('two people who open one entry see each other until one closes it', async () => {
  const id = await openEntry()
  const [ana, luis] = [await colleague('Ana'), await colleague('Luis')]
  const anas = ana.open(id)
  await expect.poll(anas.sees).toEqual([])
  const elsewhere = ana.open(await openEntry())
  const luises = luis.open(id)
  await expect.poll(luises.sees).toEqual(['ana'])
  await expect.poll(anas.sees).toEqual(['luis'])
  luises.close()
  await expect.poll(anas.sees).toEqual([])
  expect(elsewhere.heard).toEqual([[]])
})

test('a person with two tabs is one person, not shown to themselves, and there until the last tab is closed', async () => {
  const id = await openEntry()
  const [bea, caro] = [await colleague('Bea'), await colleague('Caro')]
  const tabs = [bea.open(id), bea.open(id)]
  const present = async () => await rows().countDocuments({ exceptionId: id, userId: bea.userId })
  await expect.poll(present).toBe(2)
  const caros = caro.open(id)
  await expect.poll(() => tabs.map((tab) => tab.sees())).toEqual([['caro'], ['caro']])
  tabs[0]?.close()
  await expect.poll(present).toBe(1)
  expect(caros.heard).toEqual([['bea']])
  tabs[1]?.close()
  await expect.poll(() => caros.heard).toEqual([['bea'], []])
})

// Guarantee: who has what open is known to those alone who may read it.
test('an entry that is unknown, of the other mode or of another workspace is not found, and nobody is noted', async () => {
  const id = await openEntry()
  const dora = await colleague('Dora')
  const stranger = await adminCaller(stores)
  const tries = [
    dora.open('late:nothing'),
    dora.open(id, { ...here.at, mode: 'live' }),
    dora.open(id, { ...here.at, workspaceId: stranger.workspaceId }),
  ]
  for (const { failures } of tries) {
    await expect.poll(() => failures).toMatchObject([{ data: { code: 'NOT_FOUND' } }])
  }
  await expect(stranger.caller.exceptions.viewers({ ...stranger.at, id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await rows().countDocuments({ exceptionId: id })).toBe(0)
})

test('who was not heard of for half a minute is gone; names are in order and told as they are', async () => {
  const id = await openEntry()
  const now = here.deps.clock.now()
  const viewers = createExceptionViewers(stores.db)
  const come = async (name: string, ago: number, userId = name) =>
    await viewers.keep(
      { id: `${name} ${userId}`, exceptionId: id, workspaceId: here.workspaceId, userId, name },
      now - ago,
    )
  await come('Zoe <b>', 29_000)
  await come('Killed', 31_000)
  await come('Alma', 0)
  await come('Alma', 0, 'another')
  const emil = (await colleague('Emil')).open(id)
  await expect.poll(emil.sees).toEqual(['Alma', 'Alma', 'Zoe <b>'])
})

test('who stays is heard of again', async () => {
  const id = await openEntry()
  const fay = (await colleague('Fay')).open(id)
  await expect.poll(fay.sees).toEqual([])
  here.advance(11_000)
  const seenAt = async () => (await rows().findOne({ exceptionId: id }))?.seenAt.getTime()
  await expect.poll(seenAt).toBe(here.deps.clock.now())
})

// Guarantee: who lost the session or the membership sees nobody, and is seen by nobody, after a quarter of a minute.
test('the stream ends with the session, and its person is gone', async () => {
  const id = await openEntry()
  let now = here.deps.clock.now()
  const later = { now: () => (now += 20_000) }
  const made = await adminCaller(stores, { workspaceId: here.workspaceId, deps: () => ({ clock: later }) })
  const watch = async () => {
    // The session of this caller was never stored: to the store it has ended.
    for await (const _names of await made.caller.exceptions.viewers({ ...made.at, id })) void now
  }
  await expect(watch()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(await rows().countDocuments({ exceptionId: id })).toBe(0)
})

test('the stream ends with the membership, and the others see its person leave', async () => {
  const id = await openEntry()
  const [gil, hugo] = [await colleague('Gil'), await colleague('Hugo')]
  const [gils, hugos] = [gil.open(id), hugo.open(id)]
  await expect.poll(hugos.sees).toEqual(['gil'])
  await stores.db.collection(MEMBERSHIPS).deleteOne({ userId: gil.userId })
  here.advance(16_000)
  await expect.poll(() => gils.failures).toMatchObject([{ data: { code: 'NOT_FOUND' } }])
  await expect.poll(hugos.sees).toEqual([])
})

// A connection that was cut for its age comes back at once: nobody shall see its person leave and return.
test.each([
  ['is left to go stale when the stream was cut for its age', LIVE_VIEW_MS_MAX, 1],
  ['is removed when the stream ended before', LIVE_VIEW_MS_MAX - 60_000, 0],
])('a row %s', async (_name, lasted, left) => {
  const id = await openEntry()
  let now = here.deps.clock.now()
  const made = await adminCaller(stores, { workspaceId: here.workspaceId, deps: () => ({ clock: { now: () => now } }) })
  const stream = (await made.caller.exceptions.viewers({ ...made.at, id }))[Symbol.asyncIterator]()
  expect(await stream.next()).toEqual({ done: false, value: [] })
  now += lasted
  await stream.return?.()
  expect(await rows().countDocuments({ exceptionId: id })).toBe(left)
})
