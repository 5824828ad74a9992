import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import { adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { openListenStage } from './listen-stage.fixture.ts'

const stores = useStores()
let stage: Awaited<ReturnType<typeof openListenStage>>
let key: string
beforeAll(async () => {
  stage = await openListenStage(stores)
  key = (await stage.key(stage.shop, ['webhooks:manage', 'invoices:write'])).text
})
afterAll(() => stage.close())

const mine = () => stage.shop.workspaceId
const codeOf = async (response: Response) => [response.status, JSON.parse(await response.text()).error?.code]

describe('a stream of events', () => {
  // Guarantee: a key reads the events of its own workspace and mode, on the stream, in the history and by id.
  test('has nothing of another workspace or mode', async () => {
    const stranger = await adminCaller(stores)
    const first = await stage.listen(key)
    await first.until('place')
    const foreign = [await stage.store(stranger.workspaceId), await stage.store(mine(), 'live')]
    const own = await stage.store(mine())
    const heard = await first.until('event')
    expect([heard.data['id'], heard.data['type']]).toEqual([own, 'webhook.test'])
    first.cut()
    // The place of another workspace's event is a place of this stream as well, and opens nothing.
    const later = await stage.store(mine())
    const again = await stage.listen(key, { 'last-event-id': heard.id ?? '' })
    expect((await again.until('event')).data['id']).toBe(later)
    again.cut()
    for (const id of foreign)
      expect(await codeOf(await stage.request(`/listen/events/${id}`, key))).toEqual([404, 'NOT_FOUND'])
    const found = await (await stage.request(`/listen/events/${own}`, key)).text()
    expect(JSON.parse(found).id).toBe(own)
  })

  // Guarantee: nothing is lost between two connections, in whatever order events are stored and connections are cut.
  test('goes on where the last connection ended', async () => {
    const first = await stage.listen(key)
    const start = await first.until('place')
    first.cut()
    const stored: string[] = []
    for (let number = 0; number < 25; number += 1) stored.push(await stage.store(mine()))
    const seen: unknown[] = []
    for (let from = start.id; seen.length < stored.length; ) {
      const stream = await stage.listen(key, { 'last-event-id': from ?? '' })
      for (let count = 0; count < 7 && seen.length < stored.length; count += 1) {
        const heard = await stream.until('event')
        from = heard.id
        seen.push(heard.data['id'])
      }
      stream.cut()
    }
    expect(seen).toEqual(stored)
  })

  test.each(['00000000000000000000', 'nonsense', '{"$gt":1}'])(
    'says that a place is lost and begins now: %s',
    async (place) => {
      const stream = await stage.listen(key, { 'last-event-id': place })
      await stream.until('gap')
      const id = await stage.store(mine())
      expect((await stream.until('event')).data['id']).toBe(id)
      stream.cut()
    },
  )

  // Guarantee: what somebody resends from the dashboard or the command line also reaches the machine of a developer, and no recovery does.
  test('brings an event again that is resent', async () => {
    const id = await stage.store(mine())
    const stream = await stage.listen(key)
    await stream.until('place')
    const { deliveries } = stage.deps.instance
    const row = (generation: number, more: object = {}) => ({
      ...{ id: `whd_${randomUUID().replaceAll('-', '')}`, eventId: id, eventType: 'webhook.test' as const },
      ...{
        endpointId: randomUUID(),
        workspaceId: mine(),
        mode: 'test' as const,
        generation,
        status: 'pending' as const,
      },
      ...{
        attempt: 0,
        dueAt: stage.deps.clock.now() + 3_600_000,
        leaseToken: null,
        claims: 0,
        createdAt: stage.deps.clock.now(),
      },
      ...{ finishedAt: null, lastError: null, lastStatusCode: null, ...more },
    })
    await deliveries.insertMany([row(0), row(1, { recoveryId: 'r' }), row(1)])
    const heard = await stream.until('resend')
    expect(heard.data['id']).toBe(id)
    const next = await stage.store(mine())
    expect((await stream.next())?.data['id']).toBe(next)
    stream.cut()
    await stores.db.collection(WEBHOOK_DELIVERIES).deleteMany({ eventId: id })
  })

  test('brings the types that are asked for', async () => {
    const stream = await stage.listen(key, {}, '?events=invoice.paid')
    await stream.until('place')
    await stage.store(mine())
    stream.cut()
    expect(await codeOf(await stage.request('/listen?events=invoice.payed', key))).toEqual([400, 'VALIDATION_ERROR'])
    expect(await codeOf(await stage.request('/listen?event=invoice.paid', key))).toEqual([400, 'VALIDATION_ERROR'])
  })
})

describe('a caller that may not listen', () => {
  test('is refused before anything is streamed', async () => {
    const reader = await stage.key(stage.shop, ['invoices:read'])
    expect(await codeOf(await stage.request('/listen', null))).toEqual([401, 'UNAUTHENTICATED'])
    expect(await codeOf(await stage.request('/listen', `${key}x`))).toEqual([401, 'UNAUTHENTICATED'])
    expect(await codeOf(await stage.request('/listen', reader.text))).toEqual([403, 'FORBIDDEN_SCOPE'])
    expect(await codeOf(await stage.request('/listen/other', key))).toEqual([404, 'NOT_FOUND'])
  })

  // Guarantee: a key that nobody has costs a read of the store at most as often as its address has a token.
  test('reads the store no more often than the limiter admits', async () => {
    const reads = vi.spyOn(stage.deps.apiKeys, 'findByHash')
    const { limiter } = stage.deps.listen
    const admit = limiter.admit.bind(limiter)
    // A bucket of this test's own: the address is that of the other tests.
    const limited = vi
      .spyOn(limiter, 'admit')
      .mockImplementation((request) => admit({ ...request, bucket: `flood:${request.bucket}` }))
    const unknown = () => newApiKey('test', stage.deps.random)
    const statuses = await Promise.all(
      Array.from({ length: 500 }, async () => (await stage.request('/listen', unknown())).status),
    )
    const admitted = statuses.filter((status) => status === 401).length
    expect(statuses.filter((status) => status === 429).length).toBe(500 - admitted)
    expect(admitted).toBeLessThan(500)
    expect(reads.mock.calls.length).toBe(admitted)
    expect(limited.mock.calls.every(([{ bucket }]) => bucket.startsWith('ip:'))).toBe(true)
    limited.mockRestore()
    reads.mockRestore()
  })

  // Guarantee: a revoked key stops receiving within seconds, although its connection is open.
  test('is cut off when the key is revoked, and when the workspace is suspended', async () => {
    const owner = await adminCaller(stores)
    const { text, revoke } = await stage.key(owner, ['webhooks:manage'])
    const stream = await stage.listen(text)
    await stream.until('place')
    await revoke()
    expect((await stream.until('end')).data['code']).toBe('UNAUTHENTICATED')
    expect(await stream.next()).toBeNull()
    expect(await codeOf(await stage.request('/listen', text))).toEqual([401, 'UNAUTHENTICATED'])

    const other = await stage.key(owner, ['webhooks:manage'])
    const open = await stage.listen(other.text)
    await open.until('place')
    await stores.db.collection(WORKSPACES).updateOne({ _id: owner.workspaceId }, { $set: { status: 'suspended' } })
    expect((await open.until('end')).data['code']).toBe('WORKSPACE_SUSPENDED')
  })

  // Guarantee: the streams of a workspace are bounded, whatever the number of its keys, and places are given back.
  test('cannot open any number of streams', async () => {
    const owner = await adminCaller(stores)
    const keys = [await stage.key(owner, ['webhooks:manage']), await stage.key(owner, ['webhooks:manage'])]
    const textOf = (number: number) => keys[number % 2]?.text ?? ''
    const open = []
    for (let number = 0; number < 10; number += 1) open.push(await stage.listen(textOf(number)))
    for (const number of [10, 11, 12])
      expect(await codeOf(await stage.request('/listen', textOf(number)))).toEqual([429, 'RATE_LIMITED'])
    open[0]?.cut()
    await expect
      .poll(
        async () => {
          const retry = await stage.listen(textOf(0))
          retry.cut()
          return retry.response.status
        },
        { interval: 600 },
      )
      .toBe(200)
    for (const { cut } of open) cut()
  })

  // Guarantee: who hangs up before the key was read leaves no place behind, whatever the moment.
  test('give their place back when the listener hangs up while its key is read', async () => {
    const owner = await adminCaller(stores)
    const { text } = await stage.key(owner, ['webhooks:manage'])
    const { apiKeys, listen } = stage.deps
    const find = apiKeys.findByHash.bind(apiKeys)
    const entered = vi.spyOn(listen.slots, 'enter')
    for (let number = 0; number < 10; number += 1) {
      const held = vi.spyOn(apiKeys, 'findByHash').mockImplementationOnce(async (hash) => {
        const closed = new Promise((resolve) => stage.server.once('hang-up', resolve))
        hangUp.abort()
        await closed
        return await find(hash)
      })
      const hangUp = new AbortController()
      const pending = stage.request('/listen', text, { signal: hangUp.signal })
      await expect(pending).rejects.toThrow()
      await expect.poll(() => entered.mock.calls.length).toBe(number + 1)
      held.mockRestore()
    }
    entered.mockRestore()
    const enter = () => listen.slots.enter(owner.workspaceId)
    await vi.waitFor(() => enter()())
  })

  // Guarantee: a workspace that reads its history slowly keeps no other one from resuming its own.
  test('resumes beside another workspace that never ends reading its history', async () => {
    const [slow, other] = [await adminCaller(stores), await adminCaller(stores)]
    const slowKey = (await stage.key(slow, ['webhooks:manage'])).text
    const otherKey = (await stage.key(other, ['webhooks:manage'])).text
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const since = vi.spyOn(stage.deps.listen.stream, 'since').mockImplementation(async function* () {
      await held
      yield* []
    })
    const resumed = { 'last-event-id': 'a place' }
    const first = await Promise.all(Array.from({ length: 6 }, () => stage.listen(slowKey, resumed)))
    expect(first.map(({ response }) => response.status).sort()).toEqual([200, 200, 429, 429, 429, 429])
    const beside = await stage.listen(otherKey, resumed)
    expect(beside.response.status).toBe(200)
    expect((await stage.listen(slowKey)).response.status).toBe(200)
    release()
    await expect.poll(async () => (await stage.listen(slowKey, resumed)).response.status, { interval: 200 }).toBe(200)
    since.mockRestore()
  })

  test('continues an invoice or begins one with the fields of the shop, and not both', async () => {
    const trigger = (body: object) =>
      stage.request('/listen/trigger', key, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      })
    const begun = await trigger({ event: 'invoice.created', order_id: '1001', metadata: { cart: 'a' } })
    const { invoice_id } = JSON.parse(await begun.text()).data
    const invoice = await stage.deps.money.invoices.findInWorkspace(mine(), 'test', invoice_id)
    expect(invoice?.terms).toMatchObject({ orderId: '1001', metadata: { trigger: 'invoice.created', cart: 'a' } })
    expect((await trigger({ event: 'invoice.cancelled', invoice_id })).status).toBe(201)
    expect(await codeOf(await trigger({ event: 'invoice.paid', invoice_id }))).toEqual([409, 'INVALID_STATE'])
    expect(await codeOf(await trigger({ event: 'invoice.paid', invoice_id: randomUUID() }))).toEqual([404, 'NOT_FOUND'])
    expect((await trigger({ event: 'invoice.paid', invoice_id, order_id: '1' })).status).toBe(400)
  })

  test('triggers nothing with a live key, without the scopes, or in a closed workspace', async () => {
    const trigger = (text: string, body: object) =>
      stage.request('/listen/trigger', text, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const scopes = ['webhooks:manage', 'invoices:write'] as const
    const live = await stage.key(stage.shop, scopes, 'live')
    expect(await codeOf(await trigger(live.text, { event: 'invoice.paid' }))).toEqual([403, 'TEST_MODE_ONLY'])
    const half = await stage.key(stage.shop, ['webhooks:manage'])
    expect(await codeOf(await trigger(half.text, { event: 'invoice.paid' }))).toEqual([403, 'FORBIDDEN_SCOPE'])
    expect(await codeOf(await trigger(key, { event: 'invoice.payed' }))).toEqual([400, 'VALIDATION_ERROR'])
    expect(await codeOf(await trigger(key, { event: 'invoice.paid', more: 1 }))).toEqual([400, 'VALIDATION_ERROR'])
    const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }
    expect(await codeOf(await stage.request('/listen/trigger', key, broken))).toEqual([400, 'VALIDATION_ERROR'])
    const owner = await adminCaller(stores)
    const closed = await stage.key(owner, scopes)
    await stores.db.collection(WORKSPACES).updateOne({ _id: owner.workspaceId }, { $set: { status: 'restricted' } })
    expect(await codeOf(await trigger(closed.text, { event: 'webhook.test' }))).toEqual([403, 'WORKSPACE_RESTRICTED'])
  })
})
