import { describe, expect, it, vi } from 'vitest'
import { stopwatch } from '#shared/runtime/process/timers.ts'
import { sampleDelivery } from '#test/support/db-samples.ts'
import { useFirstAttempts } from '#test/support/first-attempts-stage.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useFirstAttempts(stores)
const { process, invoice, invoices, deliveryOf } = stage
const soon = { timeout: 10_000, interval: 20 }

/** Nothing was sent, and the delivery waits for whoever is woken next. */
async function expectGivenBack(invoiceId: string): Promise<void> {
  expect(stage.receiver.requests).toHaveLength(0)
  expect(await deliveryOf(invoiceId)).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
  expect(stage.engine.wakeUps).toContain(`webhooks ${stage.endpointId}`)
}

describe('the endpoint between read and request', () => {
  /** A process whose insert of deliveries takes `ms` by its stopwatch, while `meanwhile` happens. */
  function slow(ms: number, meanwhile: () => Promise<unknown>) {
    const { deps } = stage.engine
    const one = process({
      isStill: true,
      relay: {
        deliveries: standIn({
          insertMany: async (rows) => {
            const ours = await deps.deliveries.insertMany(rows)
            await meanwhile()
            one.elapsed.ms += ms
            return ours
          },
        }),
      },
    })
    return one
  }
  const pause = () =>
    stores.db
      .collection<{ _id: string; status: string }>({ name: 'webhook_endpoints' } as never)
      .updateOne({ _id: stage.endpointId }, { $set: { status: 'disabled' } })
  const remove = () => stage.engine.deps.endpoints.remove(stage.endpointId)

  it('counts as checked for less than a second', async () => {
    const one = slow(500, pause)
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
    expect(stage.receiver.requests).toHaveLength(0)
    expect((await deliveryOf(id))?.status).toBe(status)
  })

  // Guarantee: a row inserted after its endpoint's rows were purged does not stay.
  it('that was deleted within that second loses its row with the outcome', async () => {
    stage.receiver.answer({ kind: 'status', status: 500 })
    const one = slow(0, async () => {
      await stage.engine.deps.deliveries.purge(stage.endpointId, null)
      await remove()
    })
    const { deps } = stage.engine
    const late = process({
      isStill: true,
      relay: {
        endpoints: standIn({
          listOf: async (ids) => {
            const found = await deps.endpoints.listOf(ids)
            await remove()
            await deps.deliveries.purge(stage.endpointId, null)
            return found
          },
        }),
      },
    })
    const { id, shard } = await invoice()
    await late.relay.relayShard(shard)
    await late.dispatcher.idle()
    expect(stage.receiver.requests).toHaveLength(1)
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', attempt: 1 })
    expect(stage.engine.wakeUps).toContain(`webhooks ${stage.endpointId}`)
    await one.dispatcher.drain('normal', stage.endpointId)
    await one.dispatcher.idle()
    expect(await deliveryOf(id)).toBeNull()
    expect(stage.receiver.requests).toHaveLength(1)
  })

  it('is not called when the lease could end during the request: the row is given back', async () => {
    const one = slow(6_001, async () => undefined)
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    await expectGivenBack(id)
  })

  // Guarantee: the monotonic time may stand still while a machine sleeps; the lease does not.
  it('is not called when only the clock shows that the lease could end during the request', async () => {
    const { deps } = stage.engine
    let sleptMs = 0
    const one = process({
      dispatcher: { clock: { now: () => deps.clock.now() + sleptMs } },
      relay: {
        deliveries: standIn({
          insertMany: async (rows) => {
            const ours = await deps.deliveries.insertMany(rows)
            // Half a second beyond the bound: the estimate of the store's clock may be behind it.
            sleptMs = 10_500
            return ours
          },
        }),
      },
    })
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    expect(stage.receiver.requests).toHaveLength(0)
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
  })

  // Guarantee: what one part of a round still sends, no other part gives back, or somebody else would send it too.
  it('keeps its rows while they are being sent, although another endpoint of the round fails', async () => {
    const { deps } = stage.engine
    const other = await stage.addEndpoint(stage.receiver.url)
    const endpoints = [...(await deps.endpoints.findByIds([stage.endpointId, other])).values()]
    const found = endpoints.find(({ id }) => id === other) ?? expect.fail('no endpoint')
    const released: string[] = []
    let fail = () => {}
    const failed = new Promise<void>((resolve) => {
      fail = resolve
    })
    const one = process({
      dispatcher: {
        // Since the relay read them, the first was deleted and the other became one of test events.
        endpoints: { ...deps.endpoints, findByIds: async () => new Map([[other, { ...found, mode: 'test' }]]) },
        deliveries: {
          ...deps.deliveries,
          purge: async (endpointId) => {
            if (endpointId === stage.endpointId) {
              fail()
              throw new Error('away')
            }
            await failed
            return 0
          },
          release: async (ids, token) => {
            released.push(...ids)
            await deps.deliveries.release(ids, token)
          },
        },
      },
    })
    const row = (name: string, endpointId: string, mode: 'live' | 'test') =>
      sampleDelivery(`whd_${name}_${other}`, { endpointId, mode, eventId: `evt_${name}_${other}` })
    const [lost, sent, unwanted] = [
      row('lost', stage.endpointId, 'test'),
      row('sent', other, 'test'),
      row('unwanted', other, 'live'),
    ]
    const events = [lost, sent, unwanted].map(({ eventId, workspaceId, mode, eventType, createdAt }) => {
      const about = { invoiceId: 'i', seq: 1, type: eventType, body: Buffer.from('{}') }
      return { id: eventId, workspaceId, mode, createdAt, ...about }
    })
    const now = stopwatch()
    const times = { storeNow: deps.clock.now(), begunAt: now, endpointsReadAt: now - 2_000 }
    const claim = one.dispatcher.claimInserted([lost, sent, unwanted], endpoints, times)
    const ours = await deps.deliveries.insertMany(claim.rows)
    claim.send(ours, new Map(events.map((event) => [event.id, event])))
    await one.dispatcher.idle()
    expect(stage.receiver.requests.map(({ headers }) => headers['x-webhook-id'])).toEqual([sent.id])
    expect(released.toSorted()).toEqual([lost.id, unwanted.id])
    expect(await deps.deliveries.findById(sent.id)).toMatchObject({ status: 'succeeded', attempt: 1 })
    await deps.endpoints.remove(other)
  })

  it('gets its places back when the insert fails', async () => {
    let fails = true
    const { deps } = stage.engine
    const one = process({
      isStill: true,
      relay: {
        deliveries: standIn({
          insertMany: (rows) => (fails ? Promise.reject(new Error('away')) : deps.deliveries.insertMany(rows)),
        }),
      },
    })
    const made = await invoices(6)
    await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
    fails = false
    await vi.waitFor(async () => {
      await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
      // Two are more than its first limit: a row is due by the store's clock, and the queue requests it again until it is.
      await one.dispatcher.drain('normal', stage.endpointId)
      expect(stage.receiver.requests).toHaveLength(6)
    }, soon)
  })

  // Guarantee: a process that ends while it inserts leaves no row under its lease.
  it('is not called by a process that stops during the insert: the row is given back at once', async () => {
    const one = slow(0, () => one.dispatcher.stop())
    const { id, shard } = await invoice()
    await one.relay.relayShard(shard)
    await one.dispatcher.idle()
    await expectGivenBack(id)
  })

  // Guarantee: a backlog is served with half of the cap, however many processes run; the turn that may do so comes from the queue.
  it('whose own share is used up is served by the turn out of the queue', async () => {
    stage.receiver.answer({ kind: 'status', status: 200, delayMs: 300 })
    const one = process({ dispatcher: { processes: () => 2, endpointInFlightMax: 4 } })
    const made = await invoices(6)
    await Promise.all(made.map(({ shard }) => one.relay.relayShard(shard)))
    expect(stage.engine.wakeUps).toContain(`webhooks ${stage.endpointId}`)
    await vi.waitFor(async () => {
      await one.dispatcher.drain('normal', stage.endpointId)
      const rows = await Promise.all(made.map(({ id }) => deliveryOf(id)))
      expect(rows.filter((row) => row?.status === 'succeeded')).toHaveLength(6)
    }, soon)
    expect(stage.receiver.requests).toHaveLength(6)
  })
})
