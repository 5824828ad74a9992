import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { createWebhookHttp, type WebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useFirstAttempts } from '#test/support/first-attempts-stage.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { resendDelivery } from './resend.ts'

const stores = useStores()
const stage = useFirstAttempts(stores)
const { process, invoice, invoices, deliveryOf, outboxOf } = stage
const soon = { timeout: 10_000, interval: 20 }

describe('a first attempt by the relay', () => {
  it('sends a row that was inserted claimed, without a wake-up, and trims in the background', async () => {
    const inserted: unknown[] = []
    const { deps } = stage.engine
    const one = process({
      relay: {
        deliveries: standIn({
          insertMany: (rows) => {
            inserted.push(...rows.map(({ leaseToken, claims }) => [typeof leaseToken, claims]))
            return deps.deliveries.insertMany(rows)
          },
        }),
      },
    })
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(inserted).toEqual([['string', 1]])
    expect(stage.receiver.requests).toHaveLength(1)
    expect(await deliveryOf(id)).toMatchObject({ status: 'succeeded', attempt: 1, claims: 1, leaseToken: null })
    expect(stage.engine.wakeUps).toEqual([])
    await vi.waitFor(async () => expect(await outboxOf(id)).toBe(0), soon)
  })

  // Guarantee: the lease outlives the latest request, by the store's clock alone.
  it('leases the row until 20 s after the store answered', async () => {
    stage.receiver.answer({ kind: 'hang' })
    const one = process({ relay: { clock: { now: () => stage.engine.deps.clock.now() + 3_600_000 } } })
    const { id, shard } = await invoice()
    const before = Date.now()
    await one.relay.relayShard(shard)
    const row = await deliveryOf(id)
    expect(row?.leaseToken).not.toBeNull()
    expect(row?.dueAt).toBeGreaterThanOrEqual(before + 20_000 - 1_000)
    expect(row?.dueAt).toBeLessThanOrEqual(Date.now() + 20_000 + 1_000)
  })

  // Guarantee: a receiver that hangs delays neither the relay nor the trim.
  it('waits for no request', async () => {
    stage.receiver.answer({ kind: 'hang' })
    const one = process()
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await stage.receiver.waitForCount(1)
    await one.trimmer.flush()
    await vi.waitFor(async () => expect(await outboxOf(id)).toBe(0), soon)
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', attempt: 0 })
  })

  // Guarantee: two relays of one shard send each event once.
  it('sends nothing for rows that another process inserted', async () => {
    const [one, other] = [process(), process()]
    const made = await invoices(20)
    const shards = [...new Set(made.map(({ shard }) => shard))]
    await Promise.all(
      shards.flatMap((shard) => [
        one.relay.relayShard(shard),
        other.relay.relayShard(shard),
        one.relay.relayShard(shard),
      ]),
    )
    await Promise.all([one.dispatcher.idle(), other.dispatcher.idle()])
    // What was not due yet by the store's clock, the queue gives to anybody later.
    await vi.waitFor(async () => {
      await other.dispatcher.drain('normal', stage.endpointId)
      const rows = await Promise.all(made.map(({ id }) => deliveryOf(id)))
      expect(rows.map((row) => row?.status)).toEqual(made.map(() => 'succeeded'))
    }, soon)
    const ids = stage.receiver.requests.map(({ headers }) => headers['x-webhook-id'])
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted())
  })

  it('relays an entry once more when its trim failed, and sends nothing again', async () => {
    const { deps } = stage.engine
    let trims = 0
    const one = process({
      relay: {
        invoices: {
          ...deps.invoices,
          trimOutbox: () => {
            trims += 1
            return Promise.reject(new Error('away'))
          },
        },
      },
    })
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.relay.relayShard(shard)
    await one.trimmer.flush()
    expect(trims).toBe(3)
    expect(await outboxOf(id)).toBe(1)
    const other = process()
    await other.relay.relayShard(shard)
    await other.trimmer.flush()
    await vi.waitFor(async () => expect(await outboxOf(id)).toBe(0), soon)
    await Promise.all([one.dispatcher.idle(), other.dispatcher.idle()])
    expect(stage.receiver.requests).toHaveLength(1)
  })

  // Guarantee: what was stored first is what is sent, whichever version made it.
  it('sends the stored bytes of an event that another process stored', async () => {
    const { id, shard } = await invoice()
    const [entry] = (await stage.engine.deps.invoices.findById(id))?.outbox ?? []
    if (entry === undefined) throw new Error('the invoice has no entry')
    const stored = Buffer.from('{"id":"of another version"}')
    const owned = { workspaceId: stage.engine.workspace.id, mode: 'test' as const, createdAt: entry.at }
    const about = { id: entry.eventId, invoiceId: id, seq: entry.seq, type: 'invoice.created' as const, body: stored }
    await stage.engine.deps.events.insertMany([{ ...owned, ...about }])
    const one = process()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(stage.receiver.requests.map(({ body }) => body.toString())).toEqual([stored.toString()])
    expect(await stores.db.collection(EVENTS).countDocuments({ invoiceId: id })).toBe(1)
  })

  // Guarantee: an outcome that was not recorded uses up no attempt.
  it('sends the same attempt once more when its outcome was lost', async () => {
    const { deps } = stage.engine
    const lost = { ...deps.deliveries, finish: () => Promise.reject(new Error('away')) }
    const one = process({ dispatcher: { deliveries: lost } })
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    const row = await deliveryOf(id)
    expect(row).toMatchObject({ status: 'pending', attempt: 0 })
    await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: row?.id ?? '' }, { $set: { dueAt: new Date(0) } })
    const other = process()
    await other.dispatcher.drain('normal', stage.endpointId)
    await other.dispatcher.idle()
    expect(await deliveryOf(id)).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(stage.receiver.requests).toHaveLength(2)
    await one.trimmer.flush()
  })
})

describe('a delivery with two requests at once', () => {
  let http: WebhookHttp
  beforeEach(() => {
    http = createWebhookHttp()
  })
  afterEach(() => http.close())

  /** A process that gets the answer to its first attempt, a 500, when `answer` is called. */
  async function lateAnswer() {
    let answer: () => void = () => undefined
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    stage.receiver.answer({ kind: 'status', status: 500, body: 'late' })
    const post: WebhookHttp['post'] = async (request) => {
      const result = await http.post(request)
      await answered
      return result
    }
    const late = process({ dispatcher: { http: { post } } })
    const { id, shard } = await invoice()
    await late.relay.relayShard(shard)
    await stage.receiver.waitForCount(1)
    stage.receiver.answer({ kind: 'status', status: 200, body: 'in time' })
    const row = (await deliveryOf(id)) ?? expect.fail('no delivery')
    const ended = async (): Promise<void> => {
      answer()
      await late.dispatcher.idle()
    }
    return { ended, id, row }
  }
  const attemptsOf = async (id: string) =>
    (await stage.engine.deps.deliveries.listAttempts(id)).map((one) => [one.number, one.statusCode, one.responseBody])

  // Guarantee: an answer that comes after the lease changes nothing, and is shown.
  it('keeps the outcome of its holder when the first answer comes after the lease', async () => {
    const { ended, id, row } = await lateAnswer()
    await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: row.id }, { $set: { dueAt: new Date(0) } })
    const holder = process()
    await holder.dispatcher.drain('normal', stage.endpointId)
    await holder.dispatcher.idle()
    const held = await deliveryOf(id)
    expect(held).toMatchObject({ status: 'succeeded', attempt: 1, lastError: null })
    await ended()
    expect(await deliveryOf(id)).toEqual(held)
    expect((await attemptsOf(row.id)).toSorted()).toEqual([
      [1, 200, 'in time'],
      [1, 500, 'late'],
    ])
  })

  // Guarantee: a resend during an attempt is another delivery, with its own attempts.
  it('gives a resend its own attempts while the first one runs', async () => {
    const { ended, id, row } = await lateAnswer()
    const again = await resendDelivery(stage.engine.deps, { id: row.id, actor: 'cli:test' })
    const other = process()
    // A row is due by the store's clock, and the queue asks again until it is.
    await vi.waitFor(async () => {
      await other.dispatcher.drain('normal', stage.endpointId)
      await other.dispatcher.idle()
      expect(await attemptsOf(again.id)).toHaveLength(1)
    }, soon)
    await ended()
    expect(again).toMatchObject({ generation: 1, eventId: row.eventId })
    expect(await attemptsOf(again.id)).toEqual([[1, 200, 'in time']])
    expect(await attemptsOf(row.id)).toEqual([[1, 500, 'late']])
    expect(await deliveryOf(id)).toMatchObject({ id: row.id, status: 'pending', attempt: 1 })
    expect(await stage.engine.deps.deliveries.findById(again.id)).toMatchObject({ status: 'succeeded', attempt: 1 })
  })
})

describe('what is inserted pending', () => {
  it.each(sampleOf(['a paused endpoint', 'an unconfirmed restore', 'a slow endpoint'] as const, 1))(
    'rows of %s',
    async (why) => {
      const { deps } = stage.engine
      if (why === 'a paused endpoint') {
        await stores.db
          .collection<{ _id: string; status: string; disabledAt: Date }>({ name: 'webhook_endpoints' } as never)
          .updateOne(
            { _id: stage.endpointId },
            { $set: { status: 'disabled', disabledAt: new Date(deps.clock.now() + 60_000) } },
          )
      }
      const tokens: (string | null)[] = []
      const one = process({
        ...(why === 'an unconfirmed restore' && { isPaused: async () => true }),
        relay: {
          deliveries: standIn({
            insertMany: (rows) => {
              tokens.push(...rows.map(({ leaseToken }) => leaseToken))
              return deps.deliveries.insertMany(rows)
            },
          }),
        },
      })
      if (why === 'a slow endpoint') {
        stage.receiver.answer({ kind: 'hang' })
        const first = await invoice()
        await one.relay.relayShard(first.shard)
        await vi.waitFor(async () => expect(await deliveryOf(first.id)).toMatchObject({ attempt: 1 }), {
          ...soon,
          timeout: 20_000,
        })
      }
      const { id, shard } = await invoice()
      tokens.length = 0
      const before = stage.receiver.requests.length
      await one.relay.relayShard(shard)
      await one.dispatcher.idle()
      expect([...new Set(tokens)]).toEqual([null])
      expect(stage.receiver.requests).toHaveLength(before)
      const status = why === 'a paused endpoint' ? 'held' : 'pending'
      await vi.waitFor(async () => {
        if (why === 'a paused endpoint') await one.dispatcher.drain('normal', stage.endpointId)
        expect(await deliveryOf(id)).toMatchObject({ status, attempt: 0, leaseToken: null })
      }, soon)
      expect(stage.receiver.requests).toHaveLength(before)
      const queue = why === 'a slow endpoint' ? 'webhooks-slow' : 'webhooks'
      if (why !== 'a paused endpoint') expect(stage.engine.wakeUps).toContain(`${queue} ${stage.endpointId}`)
    },
  )

  it('rows beyond the places of the endpoint, which leave as places become free', async () => {
    stage.receiver.answer({ kind: 'status', status: 200, delayMs: 100 })
    const made = await invoices(12)
    const madeAt = stage.engine.deps.clock.now()
    const clock = { now: () => madeAt }
    // Time stands still: answers that a busy machine measures as slow would send the endpoint to the slow lane. A turn that waits for places
    // leaves the rest to the queue, whose part the test plays.
    const one = process({ isStill: true, relay: { clock }, dispatcher: { clock } })
    await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
    await vi.waitFor(async () => {
      await one.dispatcher.drain('normal', stage.endpointId)
      const rows = await Promise.all(made.map(({ id }) => deliveryOf(id)))
      expect(rows.filter((row) => row?.status === 'succeeded')).toHaveLength(12)
    }, 60_000)
    expect(stage.receiver.requests).toHaveLength(12)
  })
})
