import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import type { AssetId, NetworkId } from '#shared/domain/enumerations.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { SILENT, useEvmStage, WATCHED_ACCOUNT } from '#test/support/evm-stage.ts'
import { type Lie, lieAbout } from '#test/support/lying-node.ts'
import type { EvmClient } from './client.ts'

const OURS = WATCHED_ACCOUNT
const stage = useEvmStage(async (chain) => {
  await chain.mine()
  await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 2_500_000n })
  await chain.pay({ asset: 'eth_ethereum', to: OURS, amountBase: 7n })
  await chain.mine()
  await chain.mine(3)
})
const { client, liar, watches } = stage

const unreliable = expect.any(NodeUnreliable)
/** More than any number of the protocol has. */
const MILLION_DIGITS = `0x${'f'.repeat(1_000_000)}`
const summary = async (reader: EvmClient) =>
  (await reader.scan(0, 5, watches)).flatMap((block) =>
    block.transfers.map(({ asset, amountBase }) => `${block.height} ${asset} ${amountBase}`),
  )
const EXPECTED = ['2 eth_ethereum 7', '2 usdt_ethereum 2500000']

describe('an honest node', () => {
  it('is verified, and its transfers to us are found', async () => {
    const reader = client([stage.chain.url])
    await reader.verify()
    expect((await summary(reader)).sort()).toEqual(EXPECTED)
    const [block] = await reader.scan(2, 2, watches)
    expect(block?.transfers.map(({ key }) => key)).toEqual([
      expect.stringMatching(/^test:ethereum:0x[0-9a-f]{64}:n$/),
      expect.stringMatching(/^test:ethereum:0x[0-9a-f]{64}:t:0xdac17f.*:2500000:0$/),
    ])
    expect((await reader.head()).height).toBe(5)
    expect(await reader.blockAt(99)).toBeNull()
  })

  it('that limits ranges is asked for less, and nothing is lost or doubled', async () => {
    const url = await liar((call, truth) => {
      const { fromBlock, toBlock } = (call.params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      if (call.method !== 'eth_getLogs' || fromBlock === toBlock) return truth
      return { error: { code: -32_005, message: 'block range too large' } }
    })
    expect((await summary(client([url]))).sort()).toEqual(EXPECTED)
  })
})

describe('a node that lies', () => {
  // Guarantee: a doubtful answer stops the scan, so the cursor cannot pass money by and nothing false is credited.
  it.each<[string, Lie]>([
    ['keeps the logs of a block back', lieAbout('eth_getLogs', () => [])],
    [
      'gives logs of another block',
      lieAbout('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, blockHash: `0x${'1'.repeat(64)}` }))),
    ],
    ['has no receipt', lieAbout('eth_getTransactionReceipt', () => null)],
    [
      'has a receipt from another block',
      lieAbout('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, blockHash: `0x${'1'.repeat(64)}` })),
    ],
    ['lacks a block below its head', lieAbout('eth_getBlockByNumber', (block, [n]) => (n === '0x2' ? null : block))],
    [
      'gives blocks that are not linked',
      lieAbout('eth_getBlockByNumber', (block: object, [n]) =>
        n === '0x2' ? { ...block, parentHash: `0x${'1'.repeat(64)}` } : block,
      ),
    ],
    ['answers in another shape', lieAbout('eth_getBlockByNumber', () => ({ number: 'seven' }))],
    ...(
      [
        ['with a number in another form', { number: 2 }],
        ['with a number beyond what is exact', { number: '0x20000000000001' }],
        ['with a time that no date can have', { timestamp: '0x7dba8218001' }],
        ['with a time of a million digits', { timestamp: MILLION_DIGITS }],
      ] as const
    ).map(([what, change]): [string, Lie] => [
      `gives blocks ${what}`,
      lieAbout('eth_getBlockByNumber', (block: object) => ({ ...block, ...change })),
    ]),
    [
      'gives an amount of a million digits',
      lieAbout('eth_getBlockByNumber', ({ transactions, ...block }: { transactions: object[] }) => ({
        ...block,
        transactions: transactions.map((one) => ({ ...one, value: MILLION_DIGITS })),
      })),
    ],
    [
      'gives a fee of a million digits',
      lieAbout('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, gasUsed: MILLION_DIGITS })),
    ],
    [
      'gives logs that were withdrawn',
      lieAbout('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, removed: true }))),
    ],
    ['gives logs twice', lieAbout('eth_getLogs', (logs: object[]) => [...logs, ...logs])],
    ['answers with a page', () => ({ body: '<html><title>Welcome</title></html>' })],
    [
      'answers in a form that nobody asked for',
      () => ({ body: gzipSync('{"jsonrpc":"2.0","id":1,"result":[]}').toString('latin1') }),
    ],
    ['fails', () => ({ error: { code: -32_000, message: 'header not found' } })],
  ])('%s: the scan throws', async (_what, lie) => {
    await expect(client([await liar(lie)]).scan(0, 5, watches)).rejects.toEqual(unreliable)
  })

  it('about a receipt only says that the transaction failed: nothing was moved', async () => {
    const url = await liar(lieAbout('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, status: '0x0' })))
    expect(await summary(client([url]))).toEqual(['2 usdt_ethereum 2500000'])
  })

  it('is left for the next one', async () => {
    const reader = client([await liar(() => ({ error: { code: -32_000, message: 'busy' } })), stage.chain.url])
    expect((await reader.head()).height).toBe(5)
  })

  it('is never named with the secrets of its URL', async () => {
    const error = await client(['http://name:s3cret@127.0.0.1:1/v3/s3cret?key=s3cret'])
      .head()
      .catch((thrown: unknown) => thrown)
    expect(error).toEqual(unreliable)
    expect(JSON.stringify([String(error), error])).not.toContain('s3cret')
  })
})

describe('a node on another chain', () => {
  const mismatch = expect.objectContaining({ name: 'NodeMismatch' })

  // Guarantee: money on another chain is never taken for money on ours.
  it('is refused on the first call', async () => {
    await expect(client([stage.chain.url], { chainId: 1 }).verify()).rejects.toEqual(mismatch)
    await expect(client([stage.chain.url], { chainId: 1 }).head()).rejects.toEqual(mismatch)
  })

  // Guarantee: a testnet that lacks a token refuses that asset and goes on; the main network never does.
  it('is refused when a token has other decimals, or is none on the main network', async () => {
    const token = { asset: 'usdt_ethereum', contract: ASSETS.usdt_ethereum.contract } as const
    await expect(client([stage.chain.url], { tokens: [{ ...token, decimals: 18 }] }).verify()).rejects.toEqual(mismatch)
    const nowhere = { ...token, contract: OURS, decimals: 6 }
    const { url } = stage.chain
    await expect(client([url], { tokens: [nowhere], mode: 'live' }).verify()).rejects.toEqual(mismatch)
    expect(await client([url], { tokens: [nowhere, { ...token, decimals: 6 }] }).verify()).toEqual(['usdt_ethereum'])
  })
})

describe('adding an EVM network', () => {
  const optimism: ChainDefinition = {
    id: 'optimism' as NetworkId,
    family: 'evm',
    name: 'OP Mainnet',
    chainIds: { live: 10, test: 11_155_420 },
    nativeSymbol: 'ETH',
    checked: { on: '2026-11-28', source: 'docs.optimism.io' },
    blockTimeMs: 2_000,
    risk: 'One sequencer orders blocks.',
    confirmations: { ms: 20_000, blocksMin: 10 },
    confirmationTiers: [{ fromUsd: 0, confirmations: { ms: 2_000, blocksMin: 1 } }],
    finalizesAfterMs: null,
    confirmsByFinality: false,
    reorganisation: { ms: 512_000, blocksMin: 256 },
    scanBatchMax: 100,
    explorerTx: { live: 'https://optimistic.etherscan.io/tx/{tx}', test: null },
    uriScheme: 'ethereum',
    addressPrefix: null,
    siblings: [],
  }

  it('takes a definition and its asset rows: the same client scans it', async () => {
    const added = client([stage.chain.url], {
      chain: optimism,
      nativeAsset: 'eth_optimism' as AssetId,
      tokens: [{ asset: 'usdt_optimism' as AssetId, contract: ASSETS.usdt_ethereum.contract, decimals: 6 }],
    })
    await added.verify()
    expect((await summary(added)).sort()).toEqual(['2 eth_optimism 7', '2 usdt_optimism 2500000'])
    const [block] = await added.scan(2, 2, watches)
    expect(block?.transfers[0]?.key).toMatch(/^test:optimism:/)
  })

  it.each(['ethereum', 'bsc', 'polygon', 'base', 'arbitrum'] as const)(
    '%s is wired by its rows alone',
    async (network) => {
      const node = { rpcUrls: [stage.chain.url], chainId: 31_337 }
      const reader = createChainClient({ live: {}, test: { [network]: node } }, 'test', network, SILENT)
      if (reader === null) throw new Error('no client')
      stage.keep(reader)
      const [block] = await reader.scan(2, 2, watches)
      expect(block?.transfers[0]?.key).toMatch(new RegExp(`^test:${network}:0x.*:n$`))
      expect(createChainClient({ live: {}, test: {} }, 'test', network, SILENT)).toBeNull()
    },
  )
})
