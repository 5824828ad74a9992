import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { ASSET_IDS, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { openWorld, type World } from '#test/support/world.ts'

const START_MS = 300_000
const PAID_MS = 90_000
let dataDir: string
let stack: Stack
let world: World

beforeAll(async () => {
  dataDir = makeStoreFolder('paymesh-assets')
  stack = await startStack({ dataDir, networks: NETWORK_IDS })
  world = await openWorld(dataDir, stack.dev)
}, START_MS)

afterAll(async () => {
  await world?.close()
  await stack?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Every network of the specification has a real node here, or the one fake that can be had for TRON. */
test('a development node comes up for each of the ten networks', () => {
  expect(Object.keys(stack.dev.rpcUrls).sort()).toEqual([...NETWORK_IDS].sort())
})

/** Guards money: a merchant can be paid in each of the 22 assets, to the base unit, and hears of it. */
test.concurrent.each(ASSET_IDS)(
  'a real transfer of %s pays its invoice',
  { timeout: PAID_MS + 30_000 },
  async (asset) => {
    const invoice = await world.createInvoice({ asset, amount: '25.00' })
    const txHash = await world.pay(invoice)
    const paid = await world.waitForEvent(invoice.id, 'invoice.paid', PAID_MS)
    expect(paid.data.object.received.confirmed_base_units).toBe(invoice.crypto?.amount_base_units)
    // Requests of one change may arrive in any order.
    for (const type of ['payment.detected', 'payment.confirmed'] as const)
      await world.waitForEvent(invoice.id, type, PAID_MS)
    const detected = world.distinctEvents(invoice.id).find((event) => event.type === 'payment.detected')
    expect(detected?.data.payment?.tx_hash).toBe(txHash)
    expect(world.distinctEvents(invoice.id).filter((event) => event.type === 'payment.confirmed')).toHaveLength(1)
  },
)
