import { beforeAll, describe, expect, it } from 'vitest'
import { eventBody } from '#shared/contracts/webhooks/event.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { outboxShardOf } from '#shared/ports/invoices.ts'
import { simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { createOutboxRelay } from './relay.ts'

const stores = useStores()
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

const addEndpoint = async (change: Partial<WebhookEndpoint>): Promise<string> => {
  const id = engine.deps.random.uuid()
  const now = engine.deps.clock.now()
  await engine.deps.endpoints.insert({
    id,
    workspaceId: engine.workspace.id,
    url: 'https://shop.test/hook',
    events: ['*'],
    mode: 'test',
    description: null,
    status: 'enabled',
    sealedSecrets: ['sealed'],
    formerSecrets: [],
    inFlightMax: null,
    createdAt: now,
    updatedAt: now,
    opId: null,
    ...change,
  })
  return id
}

const paidInvoice = async (scenario: 'paid' | 'overpaid' = 'paid'): Promise<string> => {
  const { terms } = await engine.open({ asset: 'usdt_bsc' })
  const { workspace } = engine
  const input = { workspaceId: workspace.id, mode: 'test', invoiceId: terms.id, scenario } as const
  await simulatePayment(engine.deps, { ...input, opId: engine.deps.random.uuid() })
  return terms.id
}

const deliveriesOf = async (invoiceId: string) => {
  const events = await engine.deps.events.listByInvoice(invoiceId)
  return (await Promise.all(events.map((event) => engine.deps.deliveries.listByEvent(event.id)))).flat()
}

const EVENTS = [
  'invoice.created',
  'invoice.pending',
  'payment.detected',
  'invoice.confirming',
  'payment.confirmed',
  'invoice.paid',
]

const OVERPAID = [...EVENTS.slice(0, -1), 'invoice.overpaid']

describe('relayShard', () => {
  it('makes every event and the deliveries that endpoints asked for, in order', async () => {
    const everything = await addEndpoint({})
    const paidOnly = await addEndpoint({ events: ['invoice.paid'], mode: 'both' })
    await addEndpoint({ mode: 'live' })
    await addEndpoint({ status: 'disabled' })
    await addEndpoint({ workspaceId: 'another' })
    const id = await paidInvoice()

    await createOutboxRelay(engine.deps).relayShard(outboxShardOf(id))

    const events = await engine.deps.events.listByInvoice(id)
    expect(events.map((event) => event.type)).toEqual(EVENTS)
    const bodies = events.map((event) => eventBody.parse(JSON.parse(new TextDecoder().decode(event.body))))
    expect(bodies.map((body) => body.data.object.status)).toEqual([
      'pending',
      'pending',
      'paid',
      'paid',
      'paid',
      'paid',
    ])
    expect(bodies.map((body) => body.data.payment?.simulated)).toEqual([
      undefined,
      undefined,
      true,
      undefined,
      true,
      undefined,
    ])
    const deliveries = await deliveriesOf(id)
    const sent = (endpoint: string) =>
      deliveries
        .filter((delivery) => delivery.endpointId === endpoint)
        .sort((a, b) => a.dueAt - b.dueAt)
        .map((delivery) => delivery.eventType)
    expect(sent(everything)).toEqual(EVENTS)
    expect(sent(paidOnly)).toEqual(['invoice.paid'])
    expect(deliveries).toHaveLength(EVENTS.length + 1)
    expect(engine.wakeUps).toEqual(expect.arrayContaining([`webhooks ${everything}`, `webhooks ${paidOnly}`]))
    expect((await engine.deps.invoices.findById(id))?.outbox).toEqual([])
  })

  // Guarantee: whatever line the relay dies at, each event and delivery exists exactly once after it ran again.
  it.each(['events', 'endpoints', 'deliveries', 'exceptions', 'trim'])('survives dying at %s', async (line) => {
    const id = await paidInvoice('overpaid')
    const { deps } = engine
    const died = () => Promise.reject(new Error(`died at ${line}`))
    const afterwards = async (write: () => Promise<unknown>) => {
      await write()
      return died()
    }
    const dying = {
      ...deps,
      ...(line === 'events' && {
        events: {
          ...deps.events,
          insertMany: (rows: Parameters<typeof deps.events.insertMany>[0]) =>
            afterwards(() => deps.events.insertMany(rows)),
        },
      }),
      ...(line === 'endpoints' && { endpoints: { ...deps.endpoints, listOf: died } }),
      ...(line === 'deliveries' && {
        deliveries: {
          ...deps.deliveries,
          insertMany: (rows: Parameters<typeof deps.deliveries.insertMany>[0]) =>
            afterwards(() => deps.deliveries.insertMany(rows)),
        },
      }),
      ...(line === 'exceptions' && { exceptions: { ...deps.exceptions, applyChanges: died } }),
      ...(line === 'trim' && { invoices: { ...deps.invoices, trimOutbox: died } }),
    }
    await createOutboxRelay(dying).relayShard(outboxShardOf(id))
    const before = (await deps.events.listByInvoice(id)).map((event) => new TextDecoder().decode(event.body))
    expect((await deps.invoices.findById(id))?.outbox.length).toBeGreaterThan(EVENTS.length)

    await createOutboxRelay(deps).relayShard(outboxShardOf(id))

    const events = await deps.events.listByInvoice(id)
    expect(events.map((event) => event.type)).toEqual(OVERPAID)
    expect(events.slice(0, before.length).map((event) => new TextDecoder().decode(event.body))).toEqual(before)
    const ids = (await deliveriesOf(id)).map((delivery) => delivery.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(OVERPAID.length)
    const inbox = await deps.exceptions.listOpen(engine.workspace.id)
    expect(inbox.map((row) => row.id)).toContain(`over:${id}`)
    expect((await deps.invoices.findById(id))?.outbox).toEqual([])
  })

  it('keeps entries that were added while it worked', async () => {
    const { terms } = await engine.open({ asset: 'usdt_bsc' })
    const { deps, workspace } = engine
    const input = { workspaceId: workspace.id, mode: 'test', invoiceId: terms.id, scenario: 'partial' } as const
    const racing = {
      ...deps,
      endpoints: {
        ...deps.endpoints,
        listOf: async (ids: readonly string[]) => {
          await simulatePayment(deps, { ...input, opId: 'while-relaying' })
          return deps.endpoints.listOf(ids)
        },
      },
    }
    await createOutboxRelay(racing).relayShard(outboxShardOf(terms.id))
    // The change that added them sends its own wake-ups.
    expect((await deps.invoices.findById(terms.id))?.outbox.length).toBeGreaterThan(0)
    await createOutboxRelay(deps).relayShard(outboxShardOf(terms.id))
    const events = await deps.events.listByInvoice(terms.id)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.map((event) => event.type)).toContain('invoice.partial')
  })

  // Guarantee: an entry under an older time than was looked for last, from a slow clock or a slow write, waits for a sweep and no longer.
  it('relays what appears under an old time after the next sweep', async () => {
    const { deps } = engine
    const relay = createOutboxRelay(deps)
    const first = await engine.open({ asset: 'usdt_bsc' })
    const shard = outboxShardOf(first.terms.id)
    await relay.relayShard(shard)
    let late = await engine.open({ asset: 'usdt_bsc' })
    for (let tries = 0; outboxShardOf(late.terms.id) !== shard && tries < 200; tries += 1) late = await engine.open()
    const past = new Date(deps.clock.now() - 60_000)
    await stores.db.collection(INVOICES).updateOne({ _id: late.terms.id }, { $set: { outboxAt: past } })
    await relay.relayShard(shard)
    expect(await deps.events.listByInvoice(late.terms.id)).toHaveLength(0)
    expect(await relay.overdueShards()).toContain(shard)
    await relay.relayShard(shard)
    expect(await deps.events.listByInvoice(late.terms.id)).not.toHaveLength(0)
  })

  it('sets a bad invoice aside, goes on with the others, and asks for help after 20 failures', async () => {
    const bad = await engine.open({ asset: 'usdt_bsc' })
    const shard = outboxShardOf(bad.terms.id)
    let good = await engine.open({ asset: 'usdt_bsc' })
    for (let tries = 0; outboxShardOf(good.terms.id) !== shard && tries < 200; tries += 1) good = await engine.open()
    const { deps } = engine
    let offsetMs = 0
    const relay = createOutboxRelay({
      ...deps,
      clock: { now: () => deps.clock.now() + offsetMs },
      events: {
        ...deps.events,
        insertMany: (rows) =>
          rows.some((row) => row.invoiceId === bad.terms.id)
            ? Promise.reject(new Error('poison'))
            : deps.events.insertMany(rows),
      },
    })
    for (let round = 0; round < 20; round += 1) {
      await relay.relayShard(shard)
      offsetMs += 61_000
    }
    expect(await deps.events.listByInvoice(good.terms.id)).not.toHaveLength(0)
    expect(await deps.events.listByInvoice(bad.terms.id)).toHaveLength(0)
    const inbox = await deps.exceptions.listOpen(engine.workspace.id)
    expect(inbox.map((row) => row.id)).toContain(`outbox_blocked:${bad.terms.id}`)
  })
  // Guarantee: an invoice whose events do not get out is never forgotten, even when the inbox fails as well.
  it('asks for help again when the inbox could not be written, and takes it back when the invoice is relayed', async () => {
    const bad = await engine.open({ asset: 'usdt_bsc' })
    const shard = outboxShardOf(bad.terms.id)
    const { deps } = engine
    let offsetMs = 0
    let broken = true
    let inboxFails = true
    const relay = createOutboxRelay({
      ...deps,
      clock: { now: () => deps.clock.now() + offsetMs },
      events: {
        ...deps.events,
        insertMany: (rows) => (broken ? Promise.reject(new Error('poison')) : deps.events.insertMany(rows)),
      },
      exceptions: {
        ...deps.exceptions,
        open: (rows) => (inboxFails ? Promise.reject(new Error('away')) : deps.exceptions.open(rows)),
      },
    })
    const round = async () => {
      await relay.relayShard(shard)
      offsetMs += 61_000
    }
    for (let count = 0; count < 20; count += 1) await round()
    inboxFails = false
    await round()
    const blocked = async () =>
      (await deps.exceptions.listOpen(engine.workspace.id)).some((row) => row.id === `outbox_blocked:${bad.terms.id}`)
    expect(await blocked()).toBe(true)
    broken = false
    await round()
    expect(await deps.events.listByInvoice(bad.terms.id)).not.toHaveLength(0)
    expect(await blocked()).toBe(false)
  })
})
