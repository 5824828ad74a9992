import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { deepTest } from '#test/support/depth.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { scanMempool } from './scan-mempool.ts'
import type { ScanSession } from './scan-session.ts'

const stores = useStores()
const DROP_AFTER_MS = 120_000
const dataDir = mkdtempSync(join(tmpdir(), 'litecoin-restart-'))

let engine: Engine
let node: LitecoinNode
let front: Server
/** While true the front answers as a node does that still reads `mempool.dat`. */
let isLoading = false
let client: OpenChainClient
let session: ScanSession

/** A URL that stays while the node behind it gets another password with each start. */
async function startFront(): Promise<string> {
  front = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const { method, params, id } = JSON.parse(body) as { method: string; params: unknown[]; id: unknown }
      const answer = (result: unknown) => response.end(JSON.stringify({ result, error: null, id }))
      if (isLoading && method === 'getrawmempool') return answer([])
      if (isLoading && method === 'getmempoolinfo') {
        return answer({ ...((await node.rpc(method)) as object), loaded: false })
      }
      return answer(await node.rpc(method, params))
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}

beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null, dataDir, flags: ['-persistmempool=1'] })
  const networks = { litecoin: { rpcUrls: [await startFront()], genesis: 'any' } }
  engine = await openEngine(stores, networks)
  const opened = createChainClient({ live: {}, test: networks }, 'test', 'litecoin', stores.runtime.metrics)
  if (opened === null) throw new Error('no client')
  client = opened
  const head = await client.head()
  const now = engine.deps.clock.now()
  const cursor = await engine.deps.cursors.create({
    ...{ id: 'test:litecoin', mode: 'test', network: 'litecoin', height: head.height, hash: head.hash, time: now },
    ...{ window: [], headHeight: head.height, headSeenAt: now, finalizedHeight: null, status: 'live' },
    ...{ haltReason: null, genesisHash: await client.genesisHash(), lease: null },
  })
  const lease = await engine.deps.cursors.acquireLease('test', 'litecoin', 'test', 600_000)
  session = {
    deps: engine.deps as unknown as ScanSession['deps'],
    source: {
      ...{ mode: 'test', network: 'litecoin', family: 'litecoin', client, createIndex: createWatchIndex },
      ...{ pollMs: 10, finalityDepth: 100, dropAfterMs: DROP_AFTER_MS, batchMax: 10, development: false },
    },
    lease: { epoch: lease?.epoch ?? 0, isHeld: () => true, release: async () => {} },
    index: createWatchIndex(),
    missingSince: new Map(),
    cursor,
  }
})
afterAll(async () => {
  await client.close()
  await new Promise<void>((resolve) => front.close(() => resolve()))
  await node.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

// Guarantee: a payment outlives a restart of its node, however long the node needs to read its mempool again.
it('keeps a payment over a restart of the node that takes longer than the grace', async () => {
  const script = `0014${randomBytes(20).toString('hex')}`
  session.index.add(script)
  const txHash = await node.pay([{ to: script, amountBase: 5_000_000n }])
  await scanMempool(session)
  const state = async () =>
    (await engine.deps.payments.listByTransaction('test', 'litecoin', txHash)).map((payment) => payment.state)
  expect(await state()).toEqual(['detected'])
  const lookedAt = session.cursor.mempoolAt

  await node.stop()
  node = await startLitecoinNode({ blockTimeMs: null, dataDir, flags: ['-persistmempool=1'] })
  isLoading = true
  for (let look = 0; look < 3; look += 1) {
    await scanMempool(session)
    engine.advance(DROP_AFTER_MS)
  }
  expect(await state()).toEqual(['detected'])
  expect(session.cursor.mempoolAt).toBe(lookedAt)
  // A node that still loads may have it, whatever its list says.
  expect(await client.heldUnconfirmed?.([txHash])).toEqual(new Set([txHash]))

  isLoading = false
  await expect.poll(async () => ((await node.rpc('getmempoolinfo')) as { loaded: boolean }).loaded).toBe(true)
  await scanMempool(session)
  expect(await state()).toEqual(['detected'])
  expect(session.cursor.mempoolAt).toBeGreaterThan(lookedAt ?? 0)
  expect(await client.heldUnconfirmed?.([txHash, 'ab'.repeat(32)])).toEqual(new Set([txHash]))
})

deepTest('drops what is gone for the whole grace after the restart', async () => {
  const script = `0014${randomBytes(20).toString('hex')}`
  session.index.add(script)
  const txHash = await node.pay([{ to: script, amountBase: 6_000_000n }])
  await scanMempool(session)
  await node.stop()
  rmSync(join(dataDir, 'regtest', 'mempool.dat'))
  node = await startLitecoinNode({ blockTimeMs: null, dataDir, flags: ['-walletbroadcast=0', '-persistmempool=1'] })
  const state = async () =>
    (await engine.deps.payments.listByTransaction('test', 'litecoin', txHash)).map((payment) => payment.state)
  await expect.poll(async () => ((await node.rpc('getmempoolinfo')) as { loaded: boolean }).loaded).toBe(true)
  await scanMempool(session)
  expect(await state()).toEqual(['detected'])
  engine.advance(DROP_AFTER_MS)
  await scanMempool(session)
  expect(await state()).toEqual(['dropped'])
})
