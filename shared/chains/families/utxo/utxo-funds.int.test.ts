import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { CoreNode, CoreRpc } from './core-rpc.ts'
import { createUtxoFunds } from './utxo-funds.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const LIMITS = { timeoutMs: 60_000 }
let node: LitecoinNode
beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null })
})
afterAll(() => node.stop())
const opened: OpenChainClient[] = []
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close()
})
const hash = () => randomBytes(20).toString('hex')
const addressesOf = (scripts: readonly string[]) => scripts.map((matchKey) => ({ address: matchKey, matchKey }))

function client(genesis = 'any') {
  const settings = { live: {}, test: { litecoin: { rpcUrls: [node.url], genesis } } }
  const made = createChainClient(settings, 'test', 'litecoin', silent)
  if (made?.funds === undefined) throw new Error('no reader')
  opened.push(made)
  return made.funds
}

it('adds up the unspent outputs of each script; without an estimate of the node the cost is unknown', async () => {
  const [twice, once, empty] = [`0014${hash()}`, `76a914${hash()}88ac`, `a914${hash()}87`] as const
  await node.pay([
    { to: twice, amountBase: 100_000_000n },
    { to: twice, amountBase: 23_456_789n },
    { to: once, amountBase: 100_001n },
  ])
  await node.mine(1)
  const { funds, height } = await client().read(addressesOf([twice, once, empty]), LIMITS)
  expect(height).toBe(await node.rpc('getblockcount', []))
  const of = (script: string) => funds.get(script)?.[0]
  expect(of(twice)).toEqual({ asset: 'ltc_litecoin', balanceBase: 123_456_789n, feeBase: null, topUpBase: 0n })
  expect(of(once)?.balanceBase).toBe(100_001n)
  expect(of(empty)?.balanceBase).toBe(0n)
})

// Guarantee: an isolated node never makes a balance 0.
it('does not ask a node without peers, unless the chain is a local one', async () => {
  const genesis = (await node.rpc('getblockhash', [0])) as string
  await expect(client(genesis).read(addressesOf([`0014${hash()}`]), LIMITS)).rejects.toMatchObject({
    name: 'NodeUnreliable',
  })
})

it('costs the outputs that are spent, by their type, rounded up', async () => {
  const [witness, legacy, odd] = [`0014${'1'.repeat(40)}`, `76a914${'2'.repeat(40)}88ac`, '51'] as const
  const held = new Map([
    [witness, { amountBase: 5_000n, outputs: 3 }],
    [legacy, { amountBase: 5_000n, outputs: 1 }],
    [odd, { amountBase: 5_000n, outputs: 1 }],
  ])
  const core = { feeRate: async () => 1_501n, unspentAmounts: async () => ({ height: 9, held }) }
  const rpc = { use: (work) => work(core as unknown as CoreNode) } satisfies Pick<CoreRpc, 'use'>
  const reader = createUtxoFunds(rpc, { asset: 'ltc_litecoin', isLocal: true })
  const { funds } = await reader.read(addressesOf([witness, legacy, odd]), LIMITS)
  // (45 + 3 × 68) × 1.501 = 373.7; (45 + 148) × 1.501 = 289.7; nobody knows how to spend the last one.
  expect([witness, legacy, odd].map((script) => funds.get(script)?.[0]?.feeBase)).toEqual([374n, 290n, null])
  expect((await reader.fees()).perAsset.get('ltc_litecoin')).toBe(290n)
})
