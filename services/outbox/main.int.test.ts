import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Stop } from '#services/context.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { start } from './main.ts'

const stores = useStores()
let engine: Engine
let stop: Stop

beforeAll(async () => {
  engine = await openEngine(stores)
  stop = await start(serviceContext(stores))
})
afterAll(async () => {
  await stop()
})

describe('the outbox process', () => {
  // Guarantee: an event is made even when every wake-up for it was lost.
  it('relays an invoice that got no wake-up', async () => {
    const { terms } = await engine.open({ asset: 'usdt_bsc' })
    await vi.waitFor(
      async () => {
        const events = await engine.deps.events.listByInvoice(terms.id)
        expect(events.map((event) => event.type)).toEqual(['invoice.created', 'invoice.pending'])
        expect((await engine.deps.invoices.findById(terms.id))?.outbox).toEqual([])
      },
      { timeout: 15_000, interval: 20 },
    )
  })
})
