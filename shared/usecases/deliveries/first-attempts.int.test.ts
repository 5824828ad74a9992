import { randomBytes } from 'node:crypto'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { outboxShardOf } from '#shared/ports/invoices.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createWebhookHttp, type WebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { after } from '#shared/runtime/process/after.ts'
import { stopwatch } from '#shared/runtime/process/stopwatch.ts'
import { type BackgroundTrimmer, createBackgroundTrimmer } from '#shared/usecases/outbox/outbox-trimmer.ts'
import { createOutboxRelay, type RelayDeps } from '#shared/usecases/outbox/relay-outbox.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createDispatcher, type Dispatcher } from './dispatch-deliveries.ts'
import type { DispatchDeliveriesDeps } from './dispatch-process.ts'

const stores = useStores()
let engine: Engine
let receiver: WebhookReceiver
let http: WebhookHttp
let endpointId: string
let dispatchers: Dispatcher[] = []
let trimmers: BackgroundTrimmer[] = []

beforeAll(async () => {
  engine = await openEngine(stores)
})
beforeEach(async () => {
  receiver = await startWebhookReceiver()
  http = createWebhookHttp()
  const { deps, workspace, secretBox } = engine
  endpointId = deps.random.uuid()
  const now = deps.clock.now()
  await deps.endpoints.insert({
    ...{ id: endpointId, workspaceId: workspace.id, url: receiver.url, events: ['*'], mode: 'test', description: null },
    ...{ status: 'enabled', createdAt: now, updatedAt: now, opId: null },
    sealedSecrets: [secretBox.seal(`whsec_${randomBytes(32).toString('base64')}`, endpointSecretContext(endpointId))],
  })
  engine.wakeUps.length = 0
})
afterEach(async () => {
  await http.close()
  await Promise.all(dispatchers.map((each) => each.stop()))
  dispatchers = []
  // What one test leaves to be trimmed is relayed in no other.
  await Promise.all(trimmers.map((each) => each.flush()))
  trimmers = []
  await engine.deps.endpoints.remove(endpointId)
  await receiver.close()
})

interface Changes {
  readonly relay?: Partial<RelayDeps>
  readonly dispatcher?: Partial<DispatchDeliveriesDeps>
  readonly isPaused?: () => Promise<boolean>
}

/** The parts of one `webhooks` process; `elapsed.ms` is added to its stopwatch. */
function process(changes: Changes = {}) {
  const elapsed = { ms: 0 }
  const { deps, secretBox } = engine
  const watch = () => stopwatch() + elapsed.ms
  const own = { ...deps, http, after, stopwatch: watch, secretBox, allowLocalhost: true, processes: () => 1 }
  const dispatcher = createDispatcher({ ...own, maxInFlight: { normal: 64, slow: 16 }, ...changes.dispatcher })
  dispatchers.push(dispatcher)
  const relayDeps = { ...deps, ...changes.relay }
  const trimmer = createBackgroundTrimmer({ ...relayDeps, after, stopwatch: watch })
  trimmers.push(trimmer)
  const attempts = {
    isPaused: changes.isPaused ?? (async () => false),
    claim: dispatcher.claimInserted,
    wake: (id: string) => dispatcher.wake(id),
  }
  const relay = createOutboxRelay(relayDeps, { attempts, trimmer, stopwatch: watch })
  return { dispatcher, trimmer, relay, elapsed }
}

/** An invoice whose one event, `invoice.created`, waits for the relay. */
async function invoice(): Promise<{ readonly id: string; readonly shard: number }> {
  const { terms } = await engine.open()
  return { id: terms.id, shard: outboxShardOf(terms.id) }
}

/** Numbers are counted, so they are made one after the other. */
async function invoices(count: number) {
  const made: Awaited<ReturnType<typeof invoice>>[] = []
  for (let at = 0; at < count; at += 1) made.push(await invoice())
  return made
}

async function deliveryOf(invoiceId: string) {
  const [event] = await engine.deps.events.listByInvoice(invoiceId)
  const rows = event === undefined ? [] : await engine.deps.deliveries.listByEvent(event.id)
  return rows.find((row) => row.endpointId === endpointId) ?? null
}

const outboxOf = async (id: string) => (await engine.deps.invoices.findById(id))?.outbox.length
const soon = { timeout: 10_000, interval: 20 }

describe('a first attempt by the relay', () => {
  it('sends a row that was inserted claimed, without a wake-up, and trims in the background', async () => {
    const inserted: unknown[] = []
    const { deps } = engine
    const one = process({
      relay: {
        deliveries: {
          insertMany: (rows) => {
            inserted.push(...rows.map(({ leaseToken, claims }) => [typeof leaseToken, claims]))
            return deps.deliveries.insertMany(rows)
          },
        },
      },
    })
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(inserted).toEqual([['string', 1]])
    expect(receiver.requests).toHaveLength(1)
    expect(await deliveryOf(id)).toMatchObject({ status: 'succeeded', attempt: 1, claims: 1, leaseToken: null })
    expect(engine.wakeUps).toEqual([])
    await vi.waitFor(async () => expect(await outboxOf(id)).toBe(0), soon)
  })

  // Guarantee: the lease outlives the latest request, by the store's clock alone.
  it('leases the row until 20 s after the store answered', async () => {
    receiver.answer({ kind: 'hang' })
    const one = process({ relay: { clock: { now: () => engine.deps.clock.now() + 3_600_000 } } })
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
    receiver.answer({ kind: 'hang' })
    const one = process()
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await receiver.waitForCount(1)
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
    await vi.waitFor(async () => {
      const rows = await Promise.all(made.map(({ id }) => deliveryOf(id)))
      expect(rows.map((row) => row?.status)).toEqual(made.map(() => 'succeeded'))
    }, soon)
    const ids = receiver.requests.map(({ headers }) => headers['x-webhook-id'])
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted())
  })

  it('relays an entry once more when its trim failed, and sends nothing again', async () => {
    const { deps } = engine
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
    expect(receiver.requests).toHaveLength(1)
  })

  // Guarantee: what was stored first is what is sent, whichever version made it.
  it('sends the stored bytes of an event that another process stored', async () => {
    const { id, shard } = await invoice()
    const [entry] = (await engine.deps.invoices.findById(id))?.outbox ?? []
    if (entry === undefined) throw new Error('the invoice has no entry')
    const stored = Buffer.from('{"id":"of another version"}')
    const owned = { workspaceId: engine.workspace.id, mode: 'test' as const, createdAt: entry.at }
    const about = { id: entry.eventId, invoiceId: id, seq: entry.seq, type: 'invoice.created' as const, body: stored }
    await engine.deps.events.insertMany([{ ...owned, ...about }])
    const one = process()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(receiver.requests.map(({ body }) => body.toString())).toEqual([stored.toString()])
    expect(await stores.db.collection(EVENTS).countDocuments({ invoiceId: id })).toBe(1)
  })

  // Guarantee: an outcome that was not recorded uses up no attempt.
  it('sends the same attempt once more when its outcome was lost', async () => {
    const { deps } = engine
    const lost = { ...deps.deliveries, finish: () => Promise.reject(new Error('away')) }
    const one = process({ dispatcher: { deliveries: lost } })
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    const row = await deliveryOf(id)
    expect(row).toMatchObject({ status: 'pending', attempt: 0 })
    await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: row?.id ?? '' }, { $set: { dueAt: new Date(0) } })
    const other = process()
    await other.dispatcher.drain('normal', endpointId)
    await other.dispatcher.idle()
    expect(await deliveryOf(id)).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(receiver.requests).toHaveLength(2)
    await one.trimmer.flush()
  })
})

describe('what is inserted pending', () => {
  it.each(['a paused endpoint', 'an unconfirmed restore', 'a slow endpoint'] as const)(
    'rows of %s',
    async (why) => {
      const { deps } = engine
      if (why === 'a paused endpoint') {
        await stores.db
          .collection<{ _id: string; status: string; disabledAt: Date }>({ name: 'webhook_endpoints' } as never)
          .updateOne(
            { _id: endpointId },
            { $set: { status: 'disabled', disabledAt: new Date(deps.clock.now() + 60_000) } },
          )
      }
      const tokens: (string | null)[] = []
      const one = process({
        ...(why === 'an unconfirmed restore' && { isPaused: async () => true }),
        relay: {
          deliveries: {
            insertMany: (rows) => {
              tokens.push(...rows.map(({ leaseToken }) => leaseToken))
              return deps.deliveries.insertMany(rows)
            },
          },
        },
      })
      if (why === 'a slow endpoint') {
        receiver.answer({ kind: 'hang' })
        const first = await invoice()
        await one.relay.relayShard(first.shard)
        await vi.waitFor(async () => expect(await deliveryOf(first.id)).toMatchObject({ attempt: 1 }), {
          ...soon,
          timeout: 20_000,
        })
      }
      const { id, shard } = await invoice()
      tokens.length = 0
      const before = receiver.requests.length
      await one.relay.relayShard(shard)
      await one.dispatcher.idle()
      expect([...new Set(tokens)]).toEqual([null])
      expect(receiver.requests).toHaveLength(before)
      const status = why === 'a paused endpoint' ? 'held' : 'pending'
      expect(await deliveryOf(id)).toMatchObject({ status, attempt: 0, leaseToken: null })
      const queue = why === 'a slow endpoint' ? 'webhooks-slow' : 'webhooks'
      if (why !== 'a paused endpoint') expect(engine.wakeUps).toContain(`${queue} ${endpointId}`)
    },
    30_000,
  )

  it('rows beyond the places of the endpoint, which leave as places become free', async () => {
    receiver.answer({ kind: 'status', status: 200, delayMs: 100 })
    const one = process()
    const made = await invoices(12)
    await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
    await vi.waitFor(async () => {
      const rows = await Promise.all(made.map(({ id }) => deliveryOf(id)))
      expect(rows.filter((row) => row?.status === 'succeeded')).toHaveLength(12)
    }, soon)
    expect(receiver.requests).toHaveLength(12)
  })
})

describe('the endpoint between read and request', () => {
  /** A process whose insert of deliveries takes `ms` by its stopwatch, while `meanwhile` happens. */
  function slow(ms: number, meanwhile: () => Promise<unknown>) {
    const { deps } = engine
    const one = process({
      relay: {
        deliveries: {
          insertMany: async (rows) => {
            const ours = await deps.deliveries.insertMany(rows)
            await meanwhile()
            one.elapsed.ms += ms
            return ours
          },
        },
      },
    })
    return one
  }
  const pause = () =>
    stores.db
      .collection<{ _id: string; status: string }>({ name: 'webhook_endpoints' } as never)
      .updateOne({ _id: endpointId }, { $set: { status: 'disabled' } })
  const remove = () => engine.deps.endpoints.remove(endpointId)

  it('counts as checked for a second', async () => {
    const one = slow(900, pause)
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(await deliveryOf(id)).toMatchObject({ status: 'succeeded' })
  })

  // Guarantee: later than a second after the read, the endpoint is read again with the row in hand.
  it.each([
    ['paused', pause, 'held'],
    ['deleted', remove, undefined],
  ] as const)('that was %s gets nothing after that second', async (_how, change, status) => {
    const one = slow(1_001, change)
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(receiver.requests).toHaveLength(0)
    expect((await deliveryOf(id))?.status).toBe(status)
  })

  // Guarantee: a row inserted after its endpoint's rows were purged does not stay.
  it('that was deleted within that second loses its row with the outcome', async () => {
    receiver.answer({ kind: 'status', status: 500 })
    const one = slow(0, async () => {
      await engine.deps.deliveries.purge(endpointId, null)
      await remove()
    })
    const { deps } = engine
    const late = process({
      relay: {
        endpoints: {
          listOf: async (ids) => {
            const found = await deps.endpoints.listOf(ids)
            await remove()
            await deps.deliveries.purge(endpointId, null)
            return found
          },
        },
      },
    })
    const { id, shard } = await invoice()
    await late.relay.relayShard(shard)
    await late.dispatcher.idle()
    expect(receiver.requests).toHaveLength(1)
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', attempt: 1 })
    expect(engine.wakeUps).toContain(`webhooks ${endpointId}`)
    await one.dispatcher.drain('normal', endpointId)
    await one.dispatcher.idle()
    expect(await deliveryOf(id)).toBeNull()
    expect(receiver.requests).toHaveLength(1)
  })

  it('is not called when the lease could end during the request: the row is given back', async () => {
    const one = slow(6_001, async () => undefined)
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(receiver.requests).toHaveLength(0)
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
    expect(engine.wakeUps).toContain(`webhooks ${endpointId}`)
  })

  it('gets its places back when the insert fails', async () => {
    let fails = true
    const { deps } = engine
    const one = process({
      relay: {
        deliveries: {
          insertMany: (rows) => (fails ? Promise.reject(new Error('away')) : deps.deliveries.insertMany(rows)),
        },
      },
    })
    const made = await invoices(6)
    await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
    fails = false
    await vi.waitFor(async () => {
      await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
      expect(receiver.requests).toHaveLength(6)
    }, soon)
  })

  // Guarantee: a process that ends while it inserts leaves no row under its lease.
  it('is not called by a process that stops during the insert: the row is given back at once', async () => {
    const one = slow(0, () => one.dispatcher.stop())
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(receiver.requests).toHaveLength(0)
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
    expect(engine.wakeUps).toContain(`webhooks ${endpointId}`)
  })

  // Guarantee: a backlog is served with half of the cap, however many processes run; the turn that may do so comes from the queue.
  it('whose own share is used up is served by the turn out of the queue', async () => {
    receiver.answer({ kind: 'status', status: 200, delayMs: 300 })
    const one = process({ dispatcher: { processes: () => 8 } })
    const made = await invoices(6)
    await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
    expect(engine.wakeUps).toContain(`webhooks ${endpointId}`)
    await vi.waitFor(async () => {
      await one.dispatcher.drain('normal', endpointId)
      const rows = await Promise.all(made.map(({ id }) => deliveryOf(id)))
      expect(rows.filter((row) => row?.status === 'succeeded')).toHaveLength(6)
    }, soon)
    expect(receiver.requests).toHaveLength(6)
  })
})
