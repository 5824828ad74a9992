import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { dueInvoices } from '#shared/usecases/invoices/deadlines.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { type LitecoinScan, startLitecoinScan } from '#test/support/litecoin-scan.ts'
import { startLyingNode } from '#test/support/lying-node.ts'
import { useStores } from '#test/support/stores.ts'

/** Blocks may carry times up to two hours ahead, as usual on Bitcoin's testnet4. */
const AHEAD_S = 6_600
const stores = useStores()
let node: LitecoinNode
let front: Awaited<ReturnType<typeof startLyingNode>>
let engine: Engine
let scan: LitecoinScan
let isSilent = false

beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null, flags: WITHOUT_MWEB })
  await node.rpc('setmocktime', [Math.floor(Date.now() / 1_000) + AHEAD_S])
  await node.mine(20)
  await node.rpc('setmocktime', [0])
  front = await startLyingNode(node.url, (_call, truth) => (isSilent ? { status: 503, body: 'out of order' } : truth))
  const networks = { litecoin: { rpcUrls: [front.url], genesis: 'any' } }
  engine = await openEngine(stores, networks)
  scan = await startLitecoinScan(stores, engine, networks)
})
afterAll(async () => {
  await scan?.stop()
  await front?.close()
  await node?.stop()
})

// Guarantee: a time that a miner chose lets no deadline pass.
it('blocks from the future at a first start let no deadline pass while the node is silent', async () => {
  const now = () => engine.deps.clock.now()
  await vi.waitFor(async () => expect((await scan.cursor()).mempoolAt).toBeDefined(), scan.patience)
  expect((await scan.cursor()).mempoolAt).toBeLessThanOrEqual(now())
  await engine.publishRates()
  const invoice = await engine.open({ asset: 'ltc_litecoin' })
  const { id, createdAt } = invoice.terms
  await vi.waitFor(async () => expect((await scan.cursor()).mempoolAt).toBeGreaterThan(createdAt), scan.patience)
  isSilent = true
  const { address, quotes } = paymentMethodOf(invoice)
  await node.pay([{ to: address, amountBase: quotes[0]?.amountBase ?? 0n }])
  await node.mine(3)
  engine.advance(invoice.state.expiresAt - now() + 60_000)
  const status = async () => {
    for (const due of await dueInvoices(engine.deps)) await advanceInvoice(engine.deps, due)
    await advanceInvoice(engine.deps, id)
    return (await engine.deps.invoices.findById(id))?.state.status
  }
  expect(await status()).toBe('pending')
  isSilent = false
  const tip = await node.rpc('getblockcount')
  await vi.waitFor(async () => expect((await scan.cursor()).height).toBe(tip), scan.patience)
  // No block nor mempool shows that it was made in time: it is credited as late, once.
  await vi.waitFor(async () => expect(await engine.deps.payments.listByInvoice(id)).toHaveLength(1), scan.patience)
  expect((await scan.cursor()).mempoolAt).toBeLessThanOrEqual(now())
}, 90_000)
