import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { dueInvoices } from '#shared/usecases/invoices/deadlines.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { type LitecoinScan, startLitecoinScan } from '#test/support/litecoin-scan.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let ours: LitecoinNode
let world: LitecoinNode
let stale: LitecoinNode
let engine: Engine
let scan: LitecoinScan
let worldPort: number
let stalePort: number

const UNMANAGED = ['-dnsseed=0', '-connect=0', ...WITHOUT_MWEB]

beforeAll(async () => {
  worldPort = await freePort(0)
  stalePort = await freePort(0)
  const listening = (port: number) => ['-listen=1', `-bind=127.0.0.1:${port}`, ...UNMANAGED]
  ours = await startLitecoinNode({ blockTimeMs: null, flags: UNMANAGED })
  world = await startLitecoinNode({ blockTimeMs: null, flags: listening(worldPort) })
  stale = await startLitecoinNode({ blockTimeMs: null, flags: listening(stalePort) })
  await world.mine(20)
  const tip = await world.rpc('getbestblockhash')
  for (const one of [ours, stale]) {
    await one.rpc('addnode', [`127.0.0.1:${worldPort}`, 'onetry'])
    await vi.waitFor(async () => expect(await one.rpc('getbestblockhash')).toBe(tip), { timeout: 30_000 })
  }
  await stale.rpc('setnetworkactive', [false])
  await vi.waitFor(async () => expect(await stale.rpc('getconnectioncount')).toBe(0), { timeout: 20_000 })
  await stale.rpc('setnetworkactive', [true])
  const genesis = (await ours.rpc('getblockhash', [0])) as string
  const networks = { litecoin: { rpcUrls: [ours.url], genesis } }
  engine = await openEngine(stores, networks)
  scan = await startLitecoinScan(stores, engine, networks)
})
afterAll(async () => {
  await scan?.stop()
  for (const one of [ours, world, stale]) await one?.stop()
})

const status = async (id: string) => {
  for (const due of await dueInvoices(engine.deps)) await advanceInvoice(engine.deps, due)
  await advanceInvoice(engine.deps, id)
  return (await engine.deps.invoices.findById(id))?.state.status
}

// Guarantee: an invoice that was paid in time never expires because its node was away.
it('a node that comes back lets no deadline pass over blocks that it has not read', async () => {
  const now = () => engine.deps.clock.now()
  await vi.waitFor(async () => expect((await scan.cursor()).mempoolAt).toBeGreaterThan(now() - 5_000), scan.patience)
  await engine.publishRates()
  const invoice = await engine.open({ asset: 'ltc_litecoin' })
  const { id, createdAt } = invoice.terms
  const { address, quotes } = paymentMethodOf(invoice)
  await vi.waitFor(async () => expect((await scan.cursor()).mempoolAt).toBeGreaterThan(createdAt), scan.patience)

  await ours.rpc('setnetworkactive', [false])
  await vi.waitFor(async () => expect(await ours.rpc('getconnectioncount')).toBe(0), scan.patience)
  await world.pay([{ to: address, amountBase: quotes[0]?.amountBase ?? 0n }])
  await world.mine(8)
  await vi.waitFor(async () => expect((await scan.cursor()).trouble?.reason).toMatch(/no peers/), scan.patience)
  engine.advance(invoice.state.expiresAt - now() + 60_000)
  expect(await status(id)).toBe('pending')

  await ours.rpc('setnetworkactive', [true])
  await ours.rpc('addnode', [`127.0.0.1:${stalePort}`, 'onetry'])
  // The node is connected to a peer that has nothing newer, and the operator sees why deadlines wait.
  await vi.waitFor(async () => expect((await scan.cursor()).waitReason).toMatch(/had no peers/), scan.patience)
  expect(await status(id)).toBe('pending')

  await ours.rpc('addnode', [`127.0.0.1:${worldPort}`, 'onetry'])
  const tip = await world.rpc('getblockcount')
  await vi.waitFor(async () => expect((await scan.cursor()).height).toBe(tip), scan.patience)
  await vi.waitFor(async () => expect(await status(id)).toBe('paid'), scan.patience)
  await vi.waitFor(async () => expect((await scan.cursor()).mempoolAt).toBeGreaterThan(now() - 5_000), scan.patience)
  const events = (await engine.deps.invoices.findById(id))?.outbox ?? []
  expect(JSON.stringify(events)).not.toContain('invoice.expired')
}, 120_000)
