import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { carryOutRecovery } from '#shared/usecases/deliveries/recover.ts'
import { adminCaller } from '#test/support/admin.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = deliveryStage(stores)

/** A workspace with an endpoint and a delivery that failed for good. */
async function failed() {
  const admin = await adminCaller(stores, { role: 'support' })
  const endpoint = await stage.endpoint({ workspaceId: admin.workspaceId, url: 'https://erp.test/hook' })
  const [event] = await stage.events(admin.workspaceId, 1)
  if (event === undefined) throw new Error('no event')
  const delivery = await stage.delivery(endpoint, event, {
    ...{ status: 'failed', attempt: 9, finishedAt: event.createdAt + 9, lastError: 'status_503', lastStatusCode: 503 },
  })
  return { ...admin, endpoint, event, delivery }
}

it('finds a delivery by everything that names it', async () => {
  const { caller, at, delivery, event, endpoint } = await failed()
  const found = async (change: object) => (await caller.deliveries.list({ ...at, ...change })).items.map(({ id }) => id)
  const one = [delivery.id]
  expect(await found({})).toEqual(one)
  expect(await found({ q: delivery.id })).toEqual(one)
  expect(await found({ q: event.id })).toEqual(one)
  expect(await found({ q: event.invoiceId ?? '' })).toEqual(one)
  expect(await found({ status: 'failed', endpointId: endpoint.id, eventType: 'invoice.paid' })).toEqual(one)
  expect(await found({ status: 'succeeded' })).toEqual([])
  expect(await found({ q: '#77' })).toEqual([])
  expect(await found({ q: '%.*' })).toEqual([])
  expect(await found({ until: delivery.createdAt })).toEqual([])
  const [row] = (await caller.deliveries.list(at)).items
  expect(row).toMatchObject({ endpointUrl: 'https://erp.test/hook', invoiceId: event.invoiceId, cause: 'first' })
  expect(row?.explanation).toContain('503')
})

it('tells of the ladder, the request without its signature, and what is to come', async () => {
  const { caller, at, endpoint, event } = await failed()
  const waits = await stage.delivery(endpoint, event, { generation: 1, attempt: 3, dueAt: 5_000_000 })
  const shown = await caller.deliveries.get({ ...at, deliveryId: waits.id })
  expect(shown.future.map(({ number }) => number)).toEqual([4, 5, 6, 7, 8, 9])
  expect(shown.future.slice(0, 3).map((step) => step.at)).toEqual([5_000_000, 6_800_000, 14_000_000])
  expect(shown.attemptsMax).toBe(9)
  expect(shown.request?.headers).toMatchObject({ 'X-Webhook-Id': waits.id, 'X-Webhook-Signature': 't=…,v1=…' })
  expect(shown.request?.body).toBe(new TextDecoder().decode(event.body))
  expect(shown.generations).toHaveLength(2)
})

// Guarantee: a double click sends once, however far the first one has come.
it('sends a failed delivery again once for one wish', async () => {
  const { caller, at, delivery, deps, workspaceId, wakeUps, endpoint } = await failed()
  const request = { ...at, opId: randomUUID(), reason: 'receiver repaired', deliveryId: delivery.id }
  const [first, second] = await Promise.all([caller.deliveries.resend(request), caller.deliveries.resend(request)])
  expect(second.id).toBe(first.id)
  // The first one arrived before a third try of the same wish.
  const { deliveries } = deps.instance
  const token = randomUUID()
  const due = await deliveries.findDue([{ endpointId: endpoint.id, limit: 5 }], null)
  await deliveries.claim(due, token, 30_000)
  const attempt = {
    number: 1,
    at: 1,
    durationMs: 1,
    statusCode: 200,
    error: null,
    ip: null,
    phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    responseBody: '',
  }
  await deliveries.finish([
    { deliveryId: first.id, leaseToken: token, result: 'succeeded', retryAfterMs: null, attempt },
  ])
  expect(await caller.deliveries.resend(request)).toMatchObject({ id: first.id, status: 'succeeded', cause: 'resent' })
  const other = await caller.deliveries.resend({ ...request, opId: randomUUID() })
  expect(other.generation).toBe(2)
  expect(wakeUps).toContain(`webhooks ${endpoint.id}`)
  expect(await deps.instance.audits.listBySubject(first.id)).toMatchObject([
    {
      action: 'delivery.resent',
      actor: 'user:olivia@example.com',
      workspaceId,
      detail: { reason: 'receiver repaired' },
    },
  ])
})

it('sends many again and says which could not be', async () => {
  const { caller, at, delivery, endpoint, event } = await failed()
  const paused = await stage.endpoint({ workspaceId: at.workspaceId, status: 'disabled' })
  const held = await stage.delivery(paused, event, { status: 'failed', finishedAt: 1 })
  const twin = await stage.delivery(endpoint, event, { generation: 1, status: 'failed', finishedAt: 1 })
  const foreign = (await failed()).delivery
  const deliveryIds = [delivery.id, twin.id, held.id, foreign.id, delivery.id]
  const sent = await caller.deliveries.resendMany({ ...at, opId: randomUUID(), deliveryIds })
  expect(sent.sent).toHaveLength(1)
  expect(sent.refused.map(({ deliveryId }) => deliveryId)).toEqual([held.id, foreign.id])
  expect(sent.refused[0]?.message).toContain('is paused: resume it first')
})

deepTest('sends at most a hundred again by name; a recovery has no limit', async () => {
  const { caller, at, endpoint, workspaceId, deps } = await failed()
  const events = await stage.events(workspaceId, 101)
  const deliveryIds: string[] = []
  for (const event of events) {
    const ended = { status: 'failed', attempt: 9, finishedAt: event.createdAt + 9, lastError: 'status_503' } as const
    deliveryIds.push((await stage.delivery(endpoint, event, ended)).id)
  }
  const many = { ...at, opId: randomUUID(), deliveryIds }
  await expect(caller.deliveries.resendMany(many)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  const waiting = async () => (await caller.endpoints.get({ ...at, endpointId: endpoint.id })).endpoint.health.waiting
  expect(await waiting()).toBe(0)
  const hundred = { ...many, opId: randomUUID(), deliveryIds: deliveryIds.slice(0, 100) }
  expect((await caller.deliveries.resendMany(hundred)).sent).toHaveLength(100)
  expect(await waiting()).toBe(100)
  const other = await stage.endpoint({ workspaceId })
  const whole = { ...at, opId: randomUUID(), endpointId: other.id, since: 1, scope: 'all' as const }
  const { id } = await caller.endpoints.recover(whole)
  await carryOutRecovery({ ...deps, ...stage.ports() }, id)
  expect(await caller.endpoints.recover(whole)).toMatchObject({ state: 'done', made: 102 })
})

// Guarantee: what belongs to another workspace or mode is as unknown as what never was.
it('knows nothing of foreign deliveries and events', async () => {
  const mine = await adminCaller(stores)
  const { delivery, event, caller, workspaceId } = await failed()
  const opId = randomUUID()
  const unknown = { code: 'NOT_FOUND' }
  const here = { ...mine.at, deliveryId: delivery.id }
  await expect(mine.caller.deliveries.get(here)).rejects.toMatchObject(unknown)
  await expect(mine.caller.deliveries.resend({ ...here, opId })).rejects.toMatchObject(unknown)
  await expect(mine.caller.deliveries.event({ ...mine.at, eventId: event.id })).rejects.toMatchObject(unknown)
  expect((await mine.caller.deliveries.list({ ...mine.at, q: delivery.id })).items).toEqual([])
  expect((await mine.caller.deliveries.list({ ...mine.at, q: event.id })).items).toEqual([])
  expect((await mine.caller.deliveries.events({ ...mine.at, q: event.id })).items).toEqual([])
  const live = { workspaceId, mode: 'live' as const }
  await expect(caller.deliveries.get({ ...live, deliveryId: delivery.id })).rejects.toMatchObject(unknown)
  await expect(caller.deliveries.list({ ...live, cursor: 'bm8' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

it('lists events with what became of them, page by page', async () => {
  const { caller, at, event, workspaceId } = await failed()
  await stage.events(workspaceId, 4, { type: 'invoice.created' })
  const first = await caller.deliveries.events({ ...at, limit: 3 })
  const second = await caller.deliveries.events({ ...at, limit: 3, cursor: first.nextCursor ?? '' })
  const all = [...first.items, ...second.items]
  expect(all).toHaveLength(5)
  expect(second.nextCursor).toBeNull()
  expect(all.find(({ id }) => id === event.id)).toMatchObject({ delivered: 0, failed: 1, waiting: 0 })
  const shown = await caller.deliveries.event({ ...at, eventId: event.id })
  expect(JSON.parse(shown.body)).toEqual({ id: event.id, object: 'event' })
  expect(shown.deliveries).toHaveLength(1)
})
