import { describe, expect, it } from 'vitest'
import type { Metrics } from '#shared/ports/runtime.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useEvmStage, WATCHED_ACCOUNT } from '#test/support/evm-stage.ts'
import { type Lie, lieAbout } from '#test/support/lying-node.ts'
import type { EvmClient } from './client.ts'

const HEAD = 8

let txHash: string
const stage = useEvmStage(async (chain) => {
  await chain.mine(3)
  const paid = await chain.pay({ asset: 'usdt_ethereum', to: WATCHED_ACCOUNT, amountBase: 2_500_000n })
  txHash = paid.txHash
  await chain.mine(5)
})
const { liar, watches } = stage

/** What was told to the metrics of the newest client. */
let labels: Set<string>

function client(...urls: readonly string[]): EvmClient {
  labels = new Set()
  const note = (name: string, given: Readonly<Record<string, string>> = {}) =>
    labels.add(`${name} ${given['provider']} ${given['method']} ${given['outcome']}`)
  const metrics: Metrics = {
    count: note,
    gauge: (name, _value, given) => note(name, given),
    observe: (name, _seconds, given) => note(name, given),
  }
  return stage.client(urls, { metrics })
}

/** A node whose newest block is this one. */
const upTo =
  (height: number): Lie =>
  (call, truth) => {
    const [requests] = call.params
    const above = typeof requests === 'string' && Number(requests) > height
    if (call.method === 'eth_blockNumber') return { result: `0x${height.toString(16)}` }
    if (call.method !== 'eth_getBlockByNumber') return truth
    if (above) return { result: null }
    return requests === 'latest'
      ? { result: { ...(truth.result as object), number: `0x${height.toString(16)}`, hash: `0x${'5'.repeat(64)}` } }
      : truth
  }

const unreliable = expect.any(NodeUnreliable)
/** A reading may end before `to` and is continued from there. */
const amounts = async (reader: EvmClient, to = HEAD) => {
  const found: string[] = []
  for (let from = 0; from <= to; ) {
    const blocks = await reader.scan(from, to, watches)
    for (const { height, transfers } of blocks) {
      found.push(...transfers.map(({ amountBase }) => `${height}: ${amountBase}`))
    }
    from = (blocks.at(-1)?.height ?? to) + 1
  }
  return found
}
const EXPECTED = ['4: 2500000']

describe('several nodes', () => {
  // Guarantee: what one node keeps back is asked of another one before the cursor may pass it.
  it('case 11: logs that one keeps back are found at the other', async () => {
    const first = await liar(lieAbout('eth_getLogs', () => []))
    expect(await amounts(client(first, stage.chain.url))).toEqual(EXPECTED)
  })

  it.each<[string, Lie]>([
    ['has no receipts and no blocks', () => ({ result: null })],
    ['answers in another shape', () => ({ result: 'nonsense' })],
    [
      'limits our rate',
      () => ({ status: 429, headers: { 'retry-after': '60' }, error: { code: 429, message: 'slow' } }),
    ],
    ['is broken', () => ({ status: 500 })],
  ])('one that %s is left for the other', async (_what, lie) => {
    expect(await amounts(client(await liar(lie), stage.chain.url))).toEqual(EXPECTED)
  })

  it('one that asks for a pause is not called before it is over', async () => {
    let calls = 0
    const limited = await liar(() => {
      calls += 1
      return { status: 429, headers: { 'retry-after': '60' }, error: { code: -32_005, message: 'limit exceeded' } }
    })
    const reader = client(limited)
    await expect(reader.head()).rejects.toEqual(unreliable)
    await expect(reader.head()).rejects.toThrow('pause')
    expect(calls).toBe(1)
  })

  // Guarantee: work of many calls ends at a provider that refuses some of them for their rate, however often it begins again.
  it.each<[string, ReturnType<Lie>]>(
    sampleOf(
      [
        ['a status', { status: 429, headers: { 'retry-after': '0' } }],
        ['an error', { error: { code: -32_005, message: 'too many requests' } }],
      ],
      1,
    ),
  )('the only one is asked again when it limits our rate by %s', async (_what, refusal) => {
    let calls = 0
    const limited = await liar((_call, truth) => {
      calls += 1
      return calls % 3 === 0 ? refusal : truth
    })
    expect(await amounts(client(limited))).toEqual(EXPECTED)
    let refused = 0
    const closed = await liar(() => {
      refused += 1
      return refusal
    })
    await expect(client(closed).head()).rejects.toEqual(unreliable)
    expect(refused).toBeLessThanOrEqual(4)
  })

  // Guarantee: a node that lags can neither move the scanner back nor make it take its past for a fork.
  it('case 12: one that lags is not asked for what it does not have', async () => {
    let down = false
    const first = await liar((_call, truth) => (down ? { status: 503 } : truth))
    const reader = client(first, await liar(upTo(5)))
    expect((await reader.head()).height).toBe(HEAD)
    down = true
    await expect(reader.scan(6, HEAD, watches)).rejects.toEqual(unreliable)
    expect((await reader.head()).height).toBe(5)
    expect(await amounts(reader, 5)).toEqual(EXPECTED)
    down = false
    expect((await reader.scan(6, HEAD, watches)).at(-1)?.height).toBe(HEAD)
    expect((await reader.head()).height).toBe(HEAD)
  })

  it('case 13: one on another chain is left out, at the start and when it comes up later', async () => {
    let chainId = '0x1'
    const first = await liar((call, truth) => (call.method === 'eth_chainId' ? { result: chainId } : truth))
    const reader = client(first, stage.chain.url)
    await reader.verify()
    expect(await amounts(reader)).toEqual(EXPECTED)
    chainId = '0x7a69'
    const later = client(first)
    await later.verify()
    chainId = '0x1'
    await expect(later.verify()).resolves.toEqual([])
    await expect(client(first).verify()).rejects.toMatchObject({ name: 'NodeMismatch' })
  })

  it('are told apart in metrics without the secrets of their URLs', async () => {
    const { host } = new URL(await liar((_call, truth) => truth))
    await client(`http://name:s3cret@${host}/v3/s3cret?key=s3cret`).head()
    expect([...labels]).toContain(`scanner_rpc_total ${host} eth_getBlockByNumber ok`)
    expect([...labels].join()).not.toContain('s3cret')
  })
})

describe('case 14: ranges of logs', () => {
  const span = (params: unknown[]) => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
    return Number(toBlock) - Number(fromBlock) + 1
  }

  it.each(
    sampleOf(
      [
        ['names the limit', 3, 'exceed maximum block range: 3'],
        ['names none', 2, 'query returned more than 10000 results'],
        ['allows single blocks', 1, 'Block range is too large'],
      ],
      2,
    ),
  )('a node that %s: nothing is lost or doubled', async (_what, limit, message) => {
    const transactionOf: number[] = []
    const node = await liar((call, truth) => {
      if (call.method !== 'eth_getLogs' || !JSON.stringify(call.params).includes('fromBlock')) return truth
      transactionOf.push(span(call.params))
      return span(call.params) > limit ? { error: { code: -32_602, message } } : truth
    })
    const reader = client(node)
    expect(await amounts(reader)).toEqual(EXPECTED)
    expect(await amounts(reader)).toEqual(EXPECTED)
    if (limit === 3) expect(transactionOf).toEqual([9, 3, 3, 3, 3, 3, 3])
  })

  it('a single block that is too much for one node is asked of another one', async () => {
    const node = await liar((call, truth) =>
      call.method === 'eth_getLogs' ? { error: { code: -32_005, message: 'query exceeds max results 20000' } } : truth,
    )
    expect(await amounts(client(node, stage.chain.url))).toEqual(EXPECTED)
    const alone = await client(node).scan(4, 4, watches)
    expect(alone.flatMap(({ transfers }) => transfers)).toMatchObject([{ amountBase: 2_500_000n }])
  })
})

describe('a second node', () => {
  const transactionOf = async (reader: EvmClient) => {
    const [block] = await reader.scan(4, 4, watches)
    return { txHash, height: 4, blockHash: block?.hash ?? '' }
  }

  // Guarantee: no payment is confirmed on the word of one node when there are two.
  it.each<[string, Lie, boolean]>([
    ['shows the transaction in the same block', (_call, truth) => truth, false],
    ['does not know it', lieAbout('eth_getTransactionReceipt', () => null), true],
    [
      'shows it in another block',
      lieAbout('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, blockHash: `0x${'1'.repeat(64)}` })),
      true,
    ],
    [
      'shows that it failed',
      lieAbout('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, status: '0x0' })),
      true,
    ],
  ])('that %s', async (_what, lie, disputes) => {
    const reader = client(stage.chain.url, await liar(lie))
    const transaction = await transactionOf(reader)
    expect([...(await reader.disputed([transaction]))]).toEqual(disputes ? [txHash] : [])
    expect(await reader.disputed([])).toEqual(new Set())
  })

  it.each<[string, Lie]>([
    ['is silent', () => ({ status: 503 })],
    ['lags', upTo(3)],
    [
      'answers for another transaction',
      lieAbout('eth_getTransactionReceipt', (receipt: object) => ({
        ...receipt,
        transactionHash: `0x${'1'.repeat(64)}`,
      })),
    ],
  ])('that %s: confirmations wait', async (_what, lie) => {
    const reader = client(stage.chain.url, await liar(lie))
    await expect(reader.disputed([await transactionOf(reader)])).rejects.toEqual(unreliable)
  })

  it('is not needed where there is none', async () => {
    const reader = client(stage.chain.url)
    expect(await reader.disputed([await transactionOf(reader)])).toEqual(new Set())
  })
})
