import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { createNodeCheck } from '#shared/chains/check-nodes.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { type LitecoinScan, startLitecoinScan } from '#test/support/litecoin-scan.ts'
import { type RpcAnswer, startLyingNode } from '#test/support/lying-node.ts'
import { useStores } from '#test/support/stores.ts'

const DOWNLOADED = 100
const PRUNED_BELOW = 250
const stores = useStores()
let node: LitecoinNode
let front: Awaited<ReturnType<typeof startLyingNode>>
let engine: Engine
let scan: LitecoinScan
let isDownloading = true
let reportsDownload = true

beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null, flags: WITHOUT_MWEB })
  await node.mine(50)
  const best = await node.rpc('getblockhash', [DOWNLOADED])
  front = await startLyingNode(node.url, ({ method, params: [first] }, truth): RpcAnswer => {
    if (method === 'getconnectioncount') return { result: 1 }
    if (!isDownloading) return truth
    if (method === 'getblockhash' && Number(first) > DOWNLOADED) {
      return { error: { code: -8, message: 'Block height out of range' } }
    }
    if (method === 'getrawmempool') return { result: [] }
    if (method !== 'getblockchaininfo') return truth
    const { initialblockdownload: _, ...known } = truth.result as { initialblockdownload: boolean }
    const flag = reportsDownload ? { initialblockdownload: true } : {}
    return { result: { ...known, blocks: DOWNLOADED, bestblockhash: best, verificationprogress: 0.12, ...flag } }
  })
  const genesis = (await node.rpc('getblockhash', [0])) as string
  const networks = { litecoin: { rpcUrls: [front.url], genesis } }
  engine = await openEngine(stores, networks)
  scan = await startLitecoinScan(stores, engine, networks)
})
afterAll(async () => {
  await scan?.stop()
  await front?.close()
  await node?.stop()
})

// Guarantee: a network never starts at blocks that its node has dropped by the time it can follow.
it('a first start waits for the download, which go-live and doctor show', async () => {
  const genesis = (await node.rpc('getblockhash', [0])) as string
  const networks = { live: {}, test: { litecoin: { rpcUrls: [front.url], genesis } } }
  for (reportsDownload of [true, false]) {
    const [state] = await createNodeCheck(networks, stores.runtime.metrics).look('test', 'litecoin')
    expect(state).toMatchObject({ height: DOWNLOADED, fault: expect.stringMatching(/block 100 of 300 \(12 %\)/) })
  }
  expect(await engine.deps.cursors.find('test', 'litecoin')).toBeNull()
  isDownloading = false
  const open = async () => expect((await scan.cursor()).mempoolAt).toBeDefined()
  await vi.waitFor(open, scan.patience)
  // The first is where no reorganisation goes below; the second is the first that was read.
  expect((await scan.cursor()).window[1]?.[0]).toBeGreaterThan(PRUNED_BELOW)
  await engine.publishRates()
  const invoice = await engine.open({ asset: 'ltc_litecoin' })
  await node.pay([{ to: paymentMethodOf(invoice).address, amountBase: 25_000_000n }])
  const paid = async () => expect(await engine.deps.payments.listByInvoice(invoice.terms.id)).toHaveLength(1)
  await vi.waitFor(paid, scan.patience)
}, 90_000)
