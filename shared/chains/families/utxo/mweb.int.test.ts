import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { pegOut } from '#test/support/litecoin-mweb.ts'
import { startLyingNode } from '#test/support/lying-node.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }

interface NodeOutput {
  readonly ismweb?: boolean
  readonly value: number
  readonly scriptPubKey: { readonly hex: string; readonly type: string }
}

interface NodeBlock {
  readonly tx: readonly { readonly txid: string; readonly vout: readonly NodeOutput[] }[]
}

// The confidential parts are in the answers of a node by default, and left out by one that is told to.
describe.each([
  ['as nodes are', []],
  ['with rpcserialversion=1', ['-rpcserialversion=1']],
])('coins from the extension block of Litecoin, a node %s', (_what, flags) => {
  let node: LitecoinNode
  beforeAll(async () => {
    node = await startLitecoinNode({ blockTimeMs: null, flags })
  })
  afterAll(() => node.stop())

  function open(url = node.url) {
    const settings = { live: {}, test: { litecoin: { rpcUrls: [url], genesis: 'any' } } }
    const client = createChainClient(settings, 'test', 'litecoin', silent)
    if (client?.mempool === undefined) throw new Error('no client that sees the mempool')
    return { ...client, mempool: client.mempool }
  }

  // Guarantee: a peg-out is credited once, under the id that its block gives it, and not before it can be spent.
  it('are no transfer in the mempool and one in the block', async () => {
    const client = open()
    const script = `0014${randomBytes(20).toString('hex')}`
    const watches = createWatchIndex()
    watches.add(script)
    const confidential = await pegOut(node, { to: script, amountBase: 123_456_789n })
    await node.pay([{ to: script, amountBase: 5_000_000n }])
    const view = await client.mempool(watches, new Set())
    expect(view.txids.has(confidential)).toBe(true)
    expect(view.transfers.map(({ amountBase }) => amountBase)).toEqual([5_000_000n])

    const [hash] = await node.mine()
    const head = await client.head()
    const [block] = await client.scan(head.height, head.height, watches)
    const { tx } = (await node.rpc('getblock', [hash, 2])) as NodeBlock
    const hogEx = tx.at(-1)
    expect(hogEx?.vout[0]?.scriptPubKey.type).toBe('witness_mweb_hogaddr')
    expect(block?.transfers).toEqual([
      ...view.transfers,
      expect.objectContaining({ amountBase: 123_456_789n, txHash: hogEx?.txid, minConfirmations: 6 }),
    ])
    expect(hogEx?.txid).not.toBe(confidential)

    // The node's own decoding of every block says the same about every output that anyone can see.
    const everything = { has: (key: string) => key !== '', add: () => {}, size: 1, keys: () => [] }
    for (const scanned of await client.scan(head.height - 4, head.height, everything)) {
      const recorded = (await node.rpc('getblock', [scanned.hash, 2])) as NodeBlock
      const outputs = recorded.tx.flatMap(({ txid, vout }) =>
        vout.flatMap(({ ismweb, value, scriptPubKey }, index) =>
          ismweb === true || value === 0 || scriptPubKey.hex.length > 84
            ? []
            : [`${txid}:${index} ${value.toFixed(8).replace('.', '').replace(/^0+/, '')}`],
        ),
      )
      expect(
        scanned.transfers.map(({ txHash, outputIndex, amountBase }) => `${txHash}:${outputIndex} ${amountBase}`),
      ).toEqual(outputs)
    }
    await client.close()
  })

  // Guarantee: a peg-out in a block that a node does not give whole is the same payment, under the same key.
  it('are the same transfer where a node gives the block in parts only', async () => {
    const script = `0014${randomBytes(20).toString('hex')}`
    const watches = createWatchIndex()
    watches.add(script)
    await pegOut(node, { to: script, amountBase: 7_000_000n })
    await node.pay([{ to: script, amountBase: 5_000_000n }])
    await node.mine()
    const whole = open()
    const { height } = await whole.head()
    const [expected] = await whole.scan(height, height, watches)
    const proxy = await startLyingNode(node.url, ({ method, params }, truth) =>
      method === 'getblock' && params.length === 2 ? { status: 413 } : truth,
    )
    const parts = open(proxy.url)
    const [block] = await parts.scan(height, height, watches)
    expect(expected?.transfers.map(({ amountBase }) => amountBase)).toEqual([5_000_000n, 7_000_000n])
    expect(block).toEqual(expected)
    await Promise.all([whole.close(), parts.close()])
    await proxy.close()
  })
})
