import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { eventBody } from '#shared/contracts/webhooks/event.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { DELIVERY_RECOVERIES, type Recovery } from '#shared/db/deliveries/recovery-model.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { carryOutRecovery, overdueRecoveries, requestRecovery } from '#shared/usecases/deliveries/recover.ts'
import { releasePaused, resendDelivery } from '#shared/usecases/deliveries/resend.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { rotateEndpointSecret } from './rotate-endpoint-secret.ts'
import { sendTestEvent } from './send-test-event.ts'
import { setEndpointStatus } from './set-endpoint-status.ts'

const stores = useStores()
const stage = deliveryStage(stores)
const { ports } = stage
const actor = 'cli:test'
const operations = async (subject: string) =>
  (await createAuditRepository(stores.db).listBySubject(subject)).map(({ action }) => action)
const statusOf = async (id: string) => (await ports().deliveries.findById(id))?.status
const HOUR_MS = 3_600_000

describe('a test event', () => {
  test('is a valid event with a sample invoice, for this endpoint alone, once for each wish', async () => {
    const endpoint = await stage.endpoint({ events: ['invoice.paid'] })
    const request = { endpointId: endpoint.id, mode: null, opId: randomUUID(), actor }
    const [one, two] = await Promise.all([sendTestEvent(ports(), request), sendTestEvent(ports(), request)])
    expect(one.id).toBe(two.id)
    expect(await ports().lookups.list({ endpointIds: [endpoint.id], status: null, limit: 9 })).toHaveLength(1)
    const event = (await ports().events.findByIds([one.eventId])).get(one.eventId)
    const body = eventBody.parse(JSON.parse(Buffer.from(event?.body ?? '').toString()))
    expect(body).toMatchObject({
      id: one.eventId,
      type: 'webhook.test',
      livemode: false,
      data: { object: { status: 'paid' } },
    })
    expect(event?.invoiceId).toBeNull()
    expect(await operations(endpoint.id)).toEqual(['endpoint.tested'])
    expect(stage.wakeUps).toContainEqual({ queue: 'webhooks', id: endpoint.id })
  })

  test('two of one workspace do not collide, and a mode that is not received is refused', async () => {
    const endpoint = await stage.endpoint({ mode: 'live' })
    const request = () => ({ endpointId: endpoint.id, mode: null, opId: randomUUID(), actor })
    expect((await sendTestEvent(ports(), request())).mode).toBe('live')
    expect((await sendTestEvent(ports(), request())).mode).toBe('live')
    await expect(sendTestEvent(ports(), { ...request(), mode: 'test' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })
})

describe('a rotation', () => {
  const secretsOf = (endpoint: WebhookEndpoint | null) =>
    [...(endpoint?.sealedSecrets ?? []), ...(endpoint?.formerSecrets ?? []).map(({ sealed }) => sealed)].map((sealed) =>
      ports().secretBox.open(sealed, endpointSecretContext(endpoint?.id ?? '')),
    )

  test('makes the new secret current and keeps the old one for its time', async () => {
    const endpoint = await stage.endpoint()
    const request = { endpointId: endpoint.id, overlapMs: HOUR_MS, opId: randomUUID(), actor }
    const first = await rotateEndpointSecret(ports(), request)
    const stored = await ports().endpoints.findById(endpoint.id)
    expect(secretsOf(stored)).toEqual([first.secret, endpoint.secret])
    expect(stored?.formerSecrets?.[0]?.until).toBe(first.oldUntil)
    expect(JSON.stringify(stored)).not.toContain(first.secret)
    // A repetition after a lost answer gives the same secret and rotates nothing.
    expect((await rotateEndpointSecret(ports(), request)).secret).toBe(first.secret)
    expect(await operations(endpoint.id)).toEqual(['endpoint.secret_rotated'])
  })

  // Guarantee: of two rotations at once neither secret is lost to the other.
  test('twice at once leaves both old secrets signing', async () => {
    const endpoint = await stage.endpoint()
    const request = () => ({ endpointId: endpoint.id, overlapMs: HOUR_MS, opId: randomUUID(), actor })
    const made = await Promise.all([rotateEndpointSecret(ports(), request()), rotateEndpointSecret(ports(), request())])
    const secrets = secretsOf(await ports().endpoints.findById(endpoint.id))
    expect(new Set(secrets)).toEqual(new Set([endpoint.secret, ...made.map(({ secret }) => secret)]))
    expect(secrets[2]).toBe(endpoint.secret)
  })

  // Guarantee: receivers can accept the new secret before it signs, and nobody makes a weak or an old one the new one.
  test('takes a secret that receivers know already', async () => {
    const endpoint = await stage.endpoint()
    const newSecret = `whsec_${randomBytes(32).toString('base64')}`
    const request = () => ({ endpointId: endpoint.id, overlapMs: HOUR_MS, opId: randomUUID(), actor })
    expect((await rotateEndpointSecret(ports(), { ...request(), newSecret })).secret).toBe(newSecret)
    expect(secretsOf(await ports().endpoints.findById(endpoint.id))).toEqual([newSecret, endpoint.secret])
    for (const unfit of [
      newSecret,
      endpoint.secret,
      'whsec_',
      `whsec_${randomBytes(8).toString('base64')}`,
      `${newSecret} `,
    ]) {
      const rotation = rotateEndpointSecret(ports(), { ...request(), newSecret: unfit })
      await expect(rotation).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    }
  })

  test('without an overlap ends every older secret at once', async () => {
    const endpoint = await stage.endpoint()
    const request = (overlapMs: number) => ({ endpointId: endpoint.id, overlapMs, opId: randomUUID(), actor })
    await rotateEndpointSecret(ports(), request(HOUR_MS))
    const { secret } = await rotateEndpointSecret(ports(), request(0))
    expect(secretsOf(await ports().endpoints.findById(endpoint.id))).toEqual([secret])
    await expect(rotateEndpointSecret(ports(), request(8 * 24 * HOUR_MS))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    await expect(rotateEndpointSecret(ports(), request(Number.NaN))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  })
})

describe('a disabled endpoint', () => {
  const set = (endpointId: string, status: WebhookEndpoint['status']) =>
    setEndpointStatus(ports(), { endpointId, status, actor })

  test('holds what waits with its attempts and times, and lets it go on when enabled', async () => {
    const endpoint = await stage.endpoint()
    const [a, b, c] = await stage.events(endpoint.workspaceId, 3)
    if (a === undefined || b === undefined || c === undefined) throw new Error('three events')
    const later = stores.runtime.clock.now() + HOUR_MS
    const waiting = await stage.delivery(endpoint, a, { attempt: 4, dueAt: later })
    const sending = await stage.delivery(endpoint, b, { leaseToken: 'another process' })
    const done = await stage.delivery(endpoint, c, { status: 'succeeded', finishedAt: 1 })
    expect((await set(endpoint.id, 'disabled')).changed).toBe(true)
    expect((await set(endpoint.id, 'disabled')).changed).toBe(false)
    expect(await Promise.all([waiting, sending, done].map(({ id }) => statusOf(id)))).toEqual([
      'held',
      'pending',
      'succeeded',
    ])
    expect(await ports().deliveries.dueEndpoints(later + 1, 1_000)).toContainEqual(
      expect.objectContaining({ endpointId: endpoint.id }),
    )
    expect((await set(endpoint.id, 'enabled')).changed).toBe(true)
    expect(await ports().deliveries.findById(waiting.id)).toMatchObject({ status: 'pending', attempt: 4, dueAt: later })
    expect(await operations(endpoint.id)).toEqual(['endpoint.disabled', 'endpoint.enabled'])
  })

  // Guarantee: a row held by a process that read the endpoint a moment too early does not wait for ever.
  test('leaves nothing held once it is enabled, nor once it is gone', async () => {
    const [enabled, gone] = [await stage.endpoint(), await stage.endpoint()]
    const [one] = await stage.events(enabled.workspaceId, 1)
    const [two] = await stage.events(gone.workspaceId, 1)
    if (one === undefined || two === undefined) throw new Error('two events')
    const [first, second] = [await stage.delivery(enabled, one), await stage.delivery(gone, two)]
    for (const { id } of [enabled, gone]) await ports().deliveries.hold(id, null)
    await ports().endpoints.remove(gone.id)
    await releasePaused(ports())
    expect([await statusOf(first.id), await statusOf(second.id)]).toEqual(['pending', undefined])
  })

  test('takes no resend, test or recovery', async () => {
    const endpoint = await stage.endpoint({ status: 'disabled' })
    const [event] = await stage.events(endpoint.workspaceId, 1)
    if (event === undefined) throw new Error('one event')
    const { id } = await stage.delivery(endpoint, event, { status: 'failed' })
    const request = { endpointId: endpoint.id, opId: randomUUID(), actor }
    const refused = { code: 'INVALID_STATE' }
    await expect(resendDelivery(ports(), { id, actor })).rejects.toMatchObject(refused)
    await expect(sendTestEvent(ports(), { ...request, mode: null })).rejects.toMatchObject(refused)
    await expect(requestRecovery(ports(), { ...request, since: 1, until: null, scope: 'all' })).rejects.toMatchObject(
      refused,
    )
  })

  test('that is deleted loses what was held, by mode', async () => {
    const endpoint = await stage.endpoint({ mode: 'both' })
    const [test] = await stage.events(endpoint.workspaceId, 1)
    const [live] = await stage.events(endpoint.workspaceId, 1, { mode: 'live' })
    if (test === undefined || live === undefined) throw new Error('two events')
    const rows = [await stage.delivery(endpoint, test), await stage.delivery(endpoint, live)]
    await ports().deliveries.hold(endpoint.id, null)
    expect(await ports().deliveries.purge(endpoint.id, 'test')).toBe(1)
    expect(await Promise.all(rows.map(({ id }) => statusOf(id)))).toEqual([undefined, 'held'])
  })
})

test('two resends at once make one delivery and one note; a finished one may be resent again', async () => {
  const endpoint = await stage.endpoint()
  const [event] = await stage.events(endpoint.workspaceId, 1)
  if (event === undefined) throw new Error('one event')
  const original = await stage.delivery(endpoint, event, { status: 'failed', attempt: 9, finishedAt: 1 })
  const resend = () => resendDelivery(ports(), { id: original.id, actor })
  const made = await Promise.all([resend(), resend(), resend()])
  const ids = new Set(made.map(({ id }) => id))
  expect(ids.size).toBe(1)
  const [id = ''] = ids
  expect((await resend()).id).toBe(id)
  expect(await operations(id)).toEqual(['delivery.resent'])
  expect(await ports().deliveries.listByEvent(event.id)).toHaveLength(2)
})

describe('a recovery', () => {
  const request = (endpointId: string, change: Partial<Pick<Recovery, 'scope' | 'since'>> = {}) =>
    requestRecovery(ports(), {
      endpointId,
      since: 1,
      until: null,
      scope: 'failed',
      opId: randomUUID(),
      actor,
      ...change,
    })
  const made = async (endpointId: string, recoveryId: string) =>
    (await ports().lookups.list({ endpointIds: [endpointId], status: null, limit: 5_000 })).filter(
      (row) => row.recoveryId === recoveryId,
    )

  test('sends what was never taken, skips what was or will be, and what is not subscribed to', async () => {
    const endpoint = await stage.endpoint({ events: ['invoice.paid'] })
    const events = await stage.events(endpoint.workspaceId, 4)
    const [failed, taken, waiting, missed] = events
    if (!failed || !taken || !waiting || !missed) throw new Error('four events')
    await stage.delivery(endpoint, failed, { status: 'failed', finishedAt: 1 })
    await stage.delivery(endpoint, taken, { status: 'failed', finishedAt: 1 })
    await stage.delivery(endpoint, taken, { generation: 1, status: 'succeeded', finishedAt: 2 })
    await stage.delivery(endpoint, waiting)
    await stage.events(endpoint.workspaceId, 1, { type: 'invoice.created' })
    await stage.events(endpoint.workspaceId, 1, { mode: 'live' })
    await stage.events(randomUUID(), 1)
    const { id } = await request(endpoint.id)
    await carryOutRecovery(ports(), id)
    const rows = await made(endpoint.id, id)
    expect(new Set(rows.map((row) => [row.eventId, row.generation].join()))).toEqual(
      new Set([`${failed.id},1`, `${missed.id},0`]),
    )
    expect(await ports().recoveries.findById(id)).toMatchObject({ state: 'done', made: 2, scanned: 6 })
    expect(await operations(endpoint.id)).toEqual(['endpoint.recovery_requested', 'endpoint.recovery_done'])
  })

  // Guarantee: a crash at any line of a recovery, and two workers at once, lose no event and make none twice.
  test('makes one delivery of each event over crashes, whatever happened to those made before', async () => {
    const endpoint = await stage.endpoint()
    const events = await stage.events(endpoint.workspaceId, 1_203)
    const { id } = await request(endpoint.id, { scope: 'all' })
    for (const step of ['eventsAfter', 'insertMany', 'progress', 'finish'] as const) {
      await carryOutRecovery(dyingAt(step), id).catch(() => undefined)
      await stores.db
        .collection(DELIVERY_RECOVERIES)
        .updateOne({ _id: id, state: 'open' }, { $set: { dueAt: new Date(0), leaseToken: null } })
      await stores.db
        .collection(WEBHOOK_DELIVERIES)
        .updateMany({ endpointId: endpoint.id }, { $set: { status: 'succeeded', finishedAt: new Date() } })
    }
    expect(await overdueRecoveries(ports())).toContain(id)
    await Promise.all([carryOutRecovery(ports(), id), carryOutRecovery(ports(), id)])
    const rows = await made(endpoint.id, id)
    expect(rows.map((row) => row.eventId).sort()).toEqual(events.map((event) => event.id).sort())
    expect(await ports().recoveries.findById(id)).toMatchObject({ state: 'done', made: 1_203, scanned: 1_203 })
  })

  /** Ports that die after a call took effect. */
  function dyingAt(step: 'eventsAfter' | 'insertMany' | 'progress' | 'finish') {
    const real = ports()
    let calls = 0
    const dying = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => {
      return async (...args: A): Promise<R> => {
        const answer = await work(...args)
        calls += 1
        if (calls >= (step === 'progress' ? 1 : 2)) throw new Error('killed')
        return answer
      }
    }
    const { lookups, deliveries, recoveries } = real
    return {
      ...real,
      lookups: step === 'eventsAfter' ? { ...lookups, eventsAfter: dying(lookups.eventsAfter) } : lookups,
      deliveries: step === 'insertMany' ? { ...deliveries, insertMany: dying(deliveries.insertMany) } : deliveries,
      recoveries: {
        ...recoveries,
        ...(step === 'progress' && { progress: dying(recoveries.progress) }),
        ...(step === 'finish' && { finish: () => Promise.reject(new Error('killed')) }),
      },
    }
  }

  test('is one at a time: the same wish is the open one, another is refused', async () => {
    const endpoint = await stage.endpoint()
    const [one, two] = await Promise.all([request(endpoint.id), request(endpoint.id)])
    expect(one.id).toBe(two.id)
    await expect(request(endpoint.id, { scope: 'all' })).rejects.toMatchObject({ code: 'INVALID_STATE' })
    await carryOutRecovery(ports(), one.id)
    expect((await request(endpoint.id, { scope: 'all' })).id).not.toBe(one.id)
    await expect(request(endpoint.id, { since: stores.runtime.clock.now() + HOUR_MS })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })

  test('waits while its endpoint is disabled, and ends with it', async () => {
    const endpoint = await stage.endpoint()
    await stage.events(endpoint.workspaceId, 1)
    const { id } = await request(endpoint.id)
    await setEndpointStatus(ports(), { endpointId: endpoint.id, status: 'disabled', actor })
    await carryOutRecovery(ports(), id)
    const waiting = await ports().recoveries.findById(id)
    expect(waiting).toMatchObject({ state: 'open', made: 0, leaseToken: null })
    expect(waiting?.dueAt).toBeGreaterThan(stores.runtime.clock.now())
    await ports().endpoints.remove(endpoint.id)
    await stores.db.collection(DELIVERY_RECOVERIES).updateOne({ _id: id }, { $set: { dueAt: new Date(0) } })
    await carryOutRecovery(ports(), id)
    expect(await ports().recoveries.findById(id)).toMatchObject({ state: 'cancelled', made: 0 })
  })
})
