import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { expectPaidOnce } from '#test/support/expect-paid-once.ts'
import { useRig } from '#test/support/use-rig.ts'

const SCALE = { api: 2, webhooks: 4, invoices: 2, scanner: 2 }
const INVOICES = 8
/** A key may create two invoices a second. */
const PACE_MS = 600

describe('several processes of each type', () => {
  const world = useRig(SCALE)

  /** Kills processes. The result resolves when they have ended: until then one may take a connection and close it without an answer. */
  function kill(...names: readonly string[]): () => Promise<void> {
    const { rig } = world()
    const pidOf = (name: string) => rig.stack.dev.pids?.[name] ?? null
    const killed = names.map((name) => [name, pidOf(name)] as const)
    for (const name of names) rig.kill(name)
    return async () => {
      for (const [name, pid] of killed) await expect.poll(() => pid === null || pidOf(name) !== pid).toBe(true)
    }
  }

  test('run under their own names', () => {
    expect(Object.keys(world().rig.stack.dev.pids ?? {})).toEqual(
      expect.arrayContaining(['api', 'api-2', 'webhooks-4', 'invoices-2', 'scanner-2', 'rates']),
    )
  })

  // Guarantee: two scanners on one chain and two workers on one invoice count each payment once and tell of it once.
  test('share the work, lose one of each half-way, and count nothing twice', async () => {
    const { createInvoice, pay } = world()
    const invoices = await Promise.all(Array.from({ length: INVOICES }, () => createInvoice()))
    let ended = async () => {}
    for (const [index, invoice] of invoices.entries()) {
      await pay(invoice)
      if (index === INVOICES / 2) ended = kill(...Object.keys(SCALE))
    }
    await ended()
    for (const invoice of invoices) await expectPaidOnce(world(), invoice, 90_000)
  }, 240_000)

  // Guarantee: the process that relays may be suspended for longer than its lease, stopped or killed, and Redis may forget everything: each
  // invoice is announced, under one delivery id. One of the four has the lease at any moment.
  test('announce every invoice while the relay moves from process to process', async () => {
    const { rig, merchant, receiver } = world()
    const webhooks = ['webhooks', 'webhooks-2', 'webhooks-3', 'webhooks-4']
    const created: string[] = []
    const load = new AbortController()
    const loading = (async () => {
      while (!load.signal.aborted) {
        created.push((await merchant.invoices.create({ amount: '25.00', currency: 'USD' })).id)
        await wait(PACE_MS)
      }
    })()
    // Awaited at the end; until then a failure is not unhandled.
    loading.catch(() => undefined)
    /** Delivery ids of `invoice.created`, by invoice. */
    const announced = (): ReadonlyMap<string, ReadonlySet<unknown>> => {
      const found = new Map<string, Set<unknown>>()
      for (const { body, headers } of receiver.requests) {
        const { type, data } = JSON.parse(body.toString('utf8'))
        if (type !== 'invoice.created') continue
        const ids = found.get(data.object.id) ?? new Set()
        found.set(data.object.id, ids.add(headers['x-webhook-id']))
      }
      return found
    }
    const untilAnnounced = async (): Promise<void> => {
      const since = created.length
      // Some that were created after the fault.
      await expect.poll(() => created.length, { timeout: 60_000 }).toBeGreaterThan(since + 2)
      const ids = created.slice(0, since + 3)
      const missing = () => {
        const found = announced()
        return ids.filter((id) => !found.has(id))
      }
      await expect.poll(missing, { timeout: 60_000 }).toEqual([])
    }
    try {
      await untilAnnounced()
      for (const name of webhooks) {
        const thaw = rig.freeze(name)
        try {
          await untilAnnounced()
        } finally {
          thaw?.()
        }
      }
      for (const name of webhooks) {
        await rig.stack.restart(name)
        await untilAnnounced()
      }
      await rig.redis.wipe()
      await untilAnnounced()
      await kill(...webhooks)()
      await untilAnnounced()
    } finally {
      load.abort()
      await loading
    }
    for (const id of created) await world().waitForEvent(id, 'invoice.created')
    const found = announced()
    expect(created.filter((id) => found.get(id)?.size !== 1)).toEqual([])
  }, 420_000)

  test('answer in place of the one that is down', async () => {
    const { rig, merchant } = world()
    await rig.stack.restart('api')
    await kill('api')()
    for (let n = 0; n < 4; n += 1) {
      const { status } = await merchant.invoices.create({ amount: '25.00', currency: 'USD' })
      expect(status).toBe('new')
    }
  })
})
