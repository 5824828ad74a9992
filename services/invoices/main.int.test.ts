import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Stop } from '#services/context.ts'
import { FAMILIES } from '#shared/domain/enumerations.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { start } from './main.ts'

const stores = useStores()
const WAIT = { timeout: 15_000, interval: 20 }
let engine: Engine
let stop: Stop

beforeAll(async () => {
  engine = await openEngine(stores)
  stop = await start(serviceContext(stores))
})
afterAll(async () => {
  await stop()
})

describe('the invoices process', () => {
  // Guarantee: a payment is applied even when every wake-up for it was lost.
  it('applies a payment that got no wake-up', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const block = blockWith(1, engine.deps.clock.now(), paymentMethodOf(invoice), [
      { key: 'unkicked', amountBase: 5_000_000n },
    ])
    await recordBlockTransfers(engine.deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
    await vi.waitFor(async () => {
      expect((await engine.deps.invoices.findById(invoice.terms.id))?.state.status).toBe('partial')
    }, WAIT)
  })

  it('derives addresses ahead for every family of the sandbox', async () => {
    await vi.waitFor(async () => {
      const materials = await engine.deps.wallets.listMaterials()
      expect(materials).toHaveLength(FAMILIES.length)
      // The fixture derived 24 of each; the whole headroom is the subject of the loop's own test.
      for (const material of materials) expect(material.derivedCount).toBeGreaterThan(24)
    }, WAIT)
  })
})
