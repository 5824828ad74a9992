import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createRollups } from '#shared/db/reports/rollups.ts'
import { carryOutRecovery } from '#shared/usecases/deliveries/recover.ts'
import { adminCaller } from '#test/support/admin.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = deliveryStage(stores)
const NEW = { url: 'https://93.184.216.34/hook', events: ['*' as const], description: 'ERP' }

it('creates an endpoint once for one wish, shows its secret, and notes who did it', async () => {
  const { caller, at, deps } = await adminCaller(stores, { role: 'admin' })
  const request = { ...at, opId: randomUUID(), reason: 'new shop', endpoint: NEW }
  const [first, second] = await Promise.all([caller.endpoints.create(request), caller.endpoints.create(request)])
  expect(first.secret).toMatch(/^whsec_/)
  expect(second).toMatchObject({ secret: first.secret, endpoint: { id: first.endpoint.id } })
  const { items } = await caller.endpoints.list(at)
  expect(items).toHaveLength(1)
  expect(items[0]).toMatchObject({ mode: 'test', description: 'ERP', health: { state: 'no_data', tried: 0 } })
  expect(JSON.stringify(items)).not.toContain('whsec_')
  expect(await deps.instance.audits.listBySubject(first.endpoint.id)).toMatchObject([
    { action: 'endpoint.created', actor: 'user:olivia@example.com', detail: { reason: 'new shop', url: NEW.url } },
  ])
  const bad = { ...NEW, url: 'http://shop.test/hook' }
  await expect(caller.endpoints.create({ ...request, opId: randomUUID(), endpoint: bad })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
  })
})

// Guarantee: two operators never overwrite each other unseen.
it('changes an endpoint only from the state that the person saw', async () => {
  const { caller, at, workspaceId } = await adminCaller(stores)
  const { id, updatedAt } = await stage.endpoint({ workspaceId })
  const request = { ...at, opId: randomUUID(), endpointId: id, version: updatedAt, description: null, inFlightMax: 5 }
  const changed = await caller.endpoints.update({ ...request, events: ['invoice.paid'] })
  expect(changed).toMatchObject({ events: ['invoice.paid'], description: null, inFlightMax: 5 })
  expect(changed.updatedAt).toBeGreaterThan(updatedAt)
  // The same wish, whose answer was lost.
  expect(await caller.endpoints.update({ ...request, events: ['invoice.paid'] })).toMatchObject({
    events: ['invoice.paid'],
  })
  const late = caller.endpoints.update({ ...request, opId: randomUUID(), events: ['*'] })
  await expect(late).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('olivia@example.com') })
  expect((await caller.endpoints.get({ ...at, endpointId: id })).endpoint.events).toEqual(['invoice.paid'])
})

it('says how an endpoint does: failing after three in a row, held while paused', async () => {
  const { caller, at, workspaceId } = await adminCaller(stores)
  const endpoint = await stage.endpoint({ workspaceId })
  const events = await stage.events(workspaceId, 5)
  for (const [index, event] of events.entries()) {
    const failed = { status: 'failed', lastError: 'tls', attempt: 9 } as const
    const state = index === 0 ? { status: 'succeeded' as const } : index === 4 ? {} : failed
    await stage.delivery(endpoint, event, { ...state, ...(index < 4 && { finishedAt: 1_000 + index }) })
  }
  const { endpoint: shown } = await caller.endpoints.get({ ...at, endpointId: endpoint.id })
  expect(shown.health).toMatchObject({
    ...{ state: 'failing', sinceSuccess: 3, tried: 4, delivered: 1, failed: 3, waiting: 1, retrying: 0, held: 0 },
  })
  expect(shown.health.lastFailures[0]?.explanation).toContain('TLS')
  const young = await stage.endpoint({ workspaceId })
  const [event] = events
  if (event === undefined) throw new Error('no event')
  await stage.delivery(young, event, { attempt: 2, lastError: 'status_500', dueAt: 9e12 })
  // Two days before its first delivery is given up, it is known to fail.
  expect((await caller.endpoints.get({ ...at, endpointId: young.id })).endpoint.health).toMatchObject({
    ...{ state: 'failing', failed: 0, waiting: 1, retrying: 1 },
    lastFailures: [{ final: false, error: 'status_500' }],
  })
  const pause = { ...at, opId: randomUUID(), endpointId: endpoint.id, status: 'disabled' as const, reason: 'repair' }
  expect(await caller.endpoints.setStatus(pause)).toMatchObject({ changed: true })
  expect(await caller.endpoints.setStatus(pause)).toMatchObject({
    changed: false,
    endpoint: { health: { state: 'paused', waiting: 0, held: 1 } },
  })
})

// Guarantee: what is still being retried counts. An endpoint that refused two of three calls was "Healthy, 100 %".
it('an endpoint that refuses two of three calls is not healthy, here and on the front page', async () => {
  const { caller, at, workspaceId } = await adminCaller(stores)
  const endpoint = await stage.endpoint({ workspaceId })
  const now = stores.runtime.clock.now()
  for (const [index, event] of (await stage.events(workspaceId, 30)).entries()) {
    const arrived = { status: 'succeeded', attempt: 1, finishedAt: now - 100 + index } as const
    const refused = { attempt: 1, lastError: 'status_503', lastStatusCode: 503, dueAt: now + 60_000 }
    await stage.delivery(endpoint, event, index % 3 === 0 ? arrived : refused)
  }
  const { endpoint: shown } = await caller.endpoints.get({ ...at, endpointId: endpoint.id })
  expect(shown.health).toMatchObject({ state: 'failing', tried: 30, delivered: 10, firstTry: 10, failedAttempts: 20 })
  expect(shown.health).toMatchObject({ waiting: 20, retrying: 20 })
  // The front page shows what the maintenance process counted last.
  await createRollups(stores.db).catchUp(Date.now())
  expect(await caller.overview.webhooks(at)).toMatchObject({
    ...{ made: 30, tried: 30, firstTry: 10, succeeded: 10, failed: 0, waiting: 20, retrying: 20 },
    endpoints: [{ state: 'failing', tried: 30, firstTry: 10 }],
  })
})

it('rotates the secret once for one wish, and the old one signs on', async () => {
  const { caller, at, workspaceId } = await adminCaller(stores)
  const { id, secret } = await stage.endpoint({ workspaceId })
  const request = { ...at, opId: randomUUID(), endpointId: id, overlapMs: 3_600_000 }
  const first = await caller.endpoints.rotate(request)
  expect(await caller.endpoints.rotate(request)).toEqual(first)
  expect(first.secret).not.toBe(secret)
  const { endpoint } = await caller.endpoints.get({ ...at, endpointId: id })
  expect(endpoint.oldSecretUntil).toBe(first.oldSecretUntil)
})

it('sends a test event once for one wish', async () => {
  const { caller, at, workspaceId, wakeUps } = await adminCaller(stores, { role: 'support' })
  const { id } = await stage.endpoint({ workspaceId })
  const request = { ...at, opId: randomUUID(), endpointId: id }
  const sent = await caller.endpoints.sendTest(request)
  expect(sent).toMatchObject({ eventType: 'webhook.test', invoiceId: null, status: 'pending' })
  expect((await caller.endpoints.sendTest(request)).id).toBe(sent.id)
  expect((await caller.deliveries.list(at)).items).toHaveLength(1)
  expect(wakeUps).toContain(`webhooks ${id}`)
})

// Guarantee: ids that a page chooses never reach what belongs to others.
it('an operation id that is another invoice’s or recovery’s id reveals nothing', async () => {
  const theirs = await adminCaller(stores)
  const other = await stage.endpoint({ workspaceId: theirs.workspaceId })
  const [event] = await stage.events(theirs.workspaceId, 1, { seq: 0 })
  const { caller, at, workspaceId } = await adminCaller(stores)
  const { id } = await stage.endpoint({ workspaceId })
  const sent = await caller.endpoints.sendTest({ ...at, endpointId: id, opId: event?.invoiceId ?? '' })
  expect(sent.eventId).not.toBe(event?.id)
  const opId = randomUUID()
  const answer = await theirs.caller.endpoints.recover({ ...theirs.at, endpointId: other.id, since: 1, opId })
  const own = await caller.endpoints.recover({ ...at, endpointId: id, since: 1, opId })
  expect(own.id).not.toBe(answer.id)
})

it('recovers what an endpoint missed, and shows how far it is', async () => {
  const { caller, at, workspaceId, deps } = await adminCaller(stores, { role: 'support' })
  const { id } = await stage.endpoint({ workspaceId })
  await stage.events(workspaceId, 3)
  const request = { ...at, opId: randomUUID(), endpointId: id, since: 1, reason: 'outage' }
  const answer = await caller.endpoints.recover(request)
  expect(answer).toMatchObject({ state: 'open', scanned: 0 })
  expect((await caller.endpoints.get({ ...at, endpointId: id })).endpoint.recovery?.id).toBe(answer.id)
  await carryOutRecovery({ ...deps, ...stage.ports() }, answer.id)
  expect(await caller.endpoints.recover(request)).toMatchObject({ id: answer.id, state: 'done', scanned: 3, made: 3 })
  const { recoveries, endpoint } = await caller.endpoints.get({ ...at, endpointId: id })
  expect(endpoint.recovery).toBeNull()
  expect(recoveries).toMatchObject([{ id: answer.id, made: 3 }])
})

it('deletes an endpoint, and a test of both modes only ends test events', async () => {
  const { caller, at, workspaceId, deps } = await adminCaller(stores)
  const plain = await stage.endpoint({ workspaceId })
  const both = await stage.endpoint({ workspaceId, mode: 'both' })
  const request = { ...at, opId: randomUUID() }
  expect(await caller.endpoints.remove({ ...request, endpointId: plain.id })).toEqual({ removed: true })
  expect(await caller.endpoints.remove({ ...request, endpointId: plain.id })).toEqual({ removed: true })
  const again = caller.endpoints.remove({ ...request, opId: randomUUID(), endpointId: plain.id })
  await expect(again).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await caller.endpoints.remove({ ...at, opId: randomUUID(), endpointId: both.id })
  expect(await deps.instance.endpoints.findById(both.id)).toMatchObject({ mode: 'live' })
  expect(await deps.instance.audits.listBySubject(plain.id)).toMatchObject([{ action: 'endpoint.deleted' }])
})

it('knows nothing of foreign endpoints', async () => {
  const { id } = await stage.endpoint({ workspaceId: randomUUID() })
  const { caller, at, deps } = await adminCaller(stores)
  const request = { ...at, opId: randomUUID(), endpointId: id }
  const unknown = { code: 'NOT_FOUND' }
  await expect(caller.endpoints.get({ ...at, endpointId: id })).rejects.toMatchObject(unknown)
  await expect(caller.endpoints.rotate(request)).rejects.toMatchObject(unknown)
  await expect(caller.endpoints.remove(request)).rejects.toMatchObject(unknown)
  await expect(caller.endpoints.setStatus({ ...request, status: 'disabled' })).rejects.toMatchObject(unknown)
  await expect(caller.endpoints.sendTest(request)).rejects.toMatchObject(unknown)
  await expect(caller.endpoints.recover({ ...request, since: 1 })).rejects.toMatchObject(unknown)
  expect(await deps.instance.endpoints.findById(id)).toMatchObject({ status: 'enabled' })
})
