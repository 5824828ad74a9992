import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTronNode, type TronNode } from '#scripts/local-chain/tron-node/start-tron-node.ts'
import { SELECTORS, transferLog, word } from '#scripts/local-chain/tron-node/trc20.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { formatAccount, parseAccount } from './address.ts'
import { createTronClient, type TronClient, type TronClientOptions } from './client.ts'
import { parseLosslessJson } from './lossless-json.ts'

const OURS = '9858effd232b4033e47d90003d41ec34ecaeda94'
const ADDRESS = formatAccount(OURS)
const PAYER = `41${'d'.repeat(40)}`
const CONTRACT = `41${'c'.repeat(40)}`
const USDT = `41${parseAccount(ASSETS.usdt_tron.contract)}`
const HUGE = 9_007_199_254_740_993n
const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const watches = createWatchIndex()
watches.add(OURS)

let node: TronNode
beforeAll(async () => {
  node = await startTronNode({ blockTimeMs: null, solidLag: 2 })
  node.mine()
  await node.pay({ asset: 'trx_tron', to: ADDRESS, amountBase: HUGE })
  await node.pay({ asset: 'usdt_tron', to: ADDRESS, amountBase: 2_500_000n })
  await node.pay({ asset: 'usdt_tron', to: formatAccount('e'.repeat(40)), amountBase: 1n })
  node.mine()
  const spend = `${SELECTORS['transferFrom(address,address,uint256)']}${word('a'.repeat(40))}${word(OURS)}${word(3n)}`
  node.submit({ kind: 'call', owner: PAYER, contract: USDT, data: spend })
  node.submit({ kind: 'call', owner: PAYER, contract: USDT, data: spend }, { result: 'OUT_OF_ENERGY' })
  const payout = { from: CONTRACT, to: `41${OURS}`, amount: '5', note: 'call' }
  node.submit(
    { kind: 'call', owner: PAYER, contract: CONTRACT, data: '' },
    {
      internals: [{ ...payout, rejected: true }, { ...payout, note: 'delegateResourceOfEnergy' }, payout],
      logs: [transferLog(USDT, '0', OURS, 4n), transferLog(CONTRACT, '0', OURS, 6n)],
    },
  )
  node.submit({ kind: 'call', owner: PAYER, contract: CONTRACT, data: '' }, { result: 'REVERT', internals: [payout] })
  node.mine(3)
})
afterAll(() => node.stop())

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
})

function client(urls: readonly string[], change: Partial<TronClientOptions> = {}): TronClient {
  const made = createTronClient({
    chain: CHAINS.tron,
    mode: 'test',
    rpcUrls: urls,
    genesis: 'any',
    nativeAsset: 'trx_tron',
    tokens: [{ asset: 'usdt_tron', contract: ASSETS.usdt_tron.contract, decimals: 6 }],
    metrics: silent,
    ...change,
  })
  opened.push(made)
  return made
}

type Answer = Record<string, unknown>
interface Truth {
  readonly path: string
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
  /** What the node said, text and parsed. */
  readonly text: string
  readonly json: unknown
}
/** What to say instead: text as it is, anything else as JSON. Undefined: the truth. */
type Lie = (truth: Truth) => unknown

/** A node that answers like ours, except where it lies. */
async function liar(lie: Lie, status = 200): Promise<string> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      fetch(`${node.url}${request.url ?? ''}`, { method: 'POST', body })
        .then(async (answer) => {
          const text = await answer.text()
          const params = JSON.parse(body) as Truth['params']
          const path = request.url ?? ''
          const said = lie({ path, params, headers: request.headers, text, json: parseLosslessJson(text) })
          response.statusCode = status
          response.end(said === undefined ? text : typeof said === 'string' ? said : JSON.stringify(said))
        })
        .catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Lies about one request, and about block 0 never, by which the node is recognised. */
const when =
  (path: string, change: (json: Answer, params: Truth['params']) => unknown): Lie =>
  (truth) =>
    truth.path.endsWith(path) && truth.params['num'] !== 0 ? change(truth.json as Answer, truth.params) : undefined
const blocks = (change: (json: Answer, params: Truth['params']) => unknown): Lie => {
  const single = when('/getblockbynum', change)
  const several = when('/getblockbylimitnext', ({ block: list }, { startNum }) => ({
    block: (list as Answer[]).map((block, index) => change(block, { num: Number(startNum) + index })),
  }))
  return (truth) => single(truth) ?? several(truth)
}
const infos = (change: (json: Answer[], params: Truth['params']) => unknown) =>
  when('/gettransactioninfobyblocknum', (json, params) => change(json as unknown as Answer[], params))

const unreliable = expect.any(NodeUnreliable)
const mismatch = expect.objectContaining({ name: 'NodeMismatch' })
const summary = async (reader: TronClient) =>
  (await reader.scan(0, 5, watches)).flatMap((block) =>
    block.transfers.map(({ key, asset, amountBase }) => `${block.height} ${key.slice(-2)} ${asset} ${amountBase}`),
  )
const EXPECTED = [
  `2 c0 trx_tron ${HUGE}`,
  '2 l0 usdt_tron 2500000',
  '3 l0 usdt_tron 3',
  '3 l0 usdt_tron 4',
  '3 :0 trx_tron 5',
]

describe('an honest node', () => {
  // Guarantee: what failed, was rejected or only looks like money credits nothing; everything else is found exactly.
  it('is verified, and its transfers to us are found', async () => {
    const reader = client([node.url])
    await reader.verify()
    expect(await summary(reader)).toEqual(EXPECTED)
    expect(await reader.head()).toMatchObject({ height: 5, finalizedHeight: 3 })
    expect(await reader.blockAt(5)).toMatchObject({ hash: (await reader.head()).hash, height: 5 })
    expect(await reader.blockAt(0)).toMatchObject({ hash: await reader.genesisHash(), time: 0 })
    expect(await reader.blockAt(99)).toBeNull()
  })

  it('is wired by its rows alone', async () => {
    const settings = { rpcUrls: [`${node.url}/`], genesis: node.genesis }
    const reader = createChainClient({ live: {}, test: { tron: settings } }, 'test', 'tron', silent)
    if (reader === null) throw new Error('no client')
    opened.push(reader)
    await reader.verify()
    const [block] = await reader.scan(2, 2, watches)
    expect(block?.transfers.map(({ key }) => key)).toEqual([
      expect.stringMatching(/^test:tron:[0-9a-f]{64}:c0$/),
      expect.stringMatching(/^test:tron:[0-9a-f]{64}:l0$/),
    ])
  })

  it('gets an API key or the credentials of a proxy from the user info of its URL', async () => {
    const seen: Truth['headers'][] = []
    const url = await liar(({ headers }) => void seen.push(headers))
    await client([url.replace('//', '//my%2Dkey@')]).genesisHash()
    await client([url.replace('//', '//name:word@')]).genesisHash()
    expect(seen[0]).toMatchObject({ 'tron-pro-api-key': 'my-key' })
    expect(seen.at(-1)).toMatchObject({ authorization: `Basic ${Buffer.from('name:word').toString('base64')}` })
  })
})

describe('what a scan asks', () => {
  it('is one answer of infos a block, one of blocks for five of them, and nothing twice', async () => {
    const asked: string[] = []
    const reader = client([await liar(({ path }) => void asked.push(path.slice(path.lastIndexOf('/') + 1)))])
    await reader.head()
    asked.length = 0
    await reader.scan(1, 5, watches)
    expect(asked.sort()).toEqual([
      'getblockbylimitnext',
      ...Array.from({ length: 5 }, () => 'gettransactioninfobyblocknum'),
    ])
    asked.length = 0
    await reader.scan(5, 5, watches)
    expect(asked).toEqual(['gettransactioninfobyblocknum'])
  })
})

describe('a node that lies about a block', () => {
  it('is told by the block, its id and the call', async () => {
    const reader = client([await liar(infos(() => []))])
    await expect(reader.scan(2, 2, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height: 2, hash: expect.any(String), method: 'wallet/gettransactioninfobyblocknum' },
    })
  })

  it('passes for honest as long as it changes nothing', async () => {
    const url = await liar((truth) => blocks((block) => block)(truth) ?? infos((list) => list)(truth))
    expect(await summary(client([url]))).toEqual(EXPECTED)
  })

  // Guarantee: a doubtful answer stops the scan, so the cursor cannot pass money by and nothing false is credited.
  it.each<[string, Lie]>([
    ['has no infos for transactions', infos(() => [])],
    ['answers infos with nothing', infos(() => ({}))],
    ['keeps an info back', infos((list) => list.slice(1))],
    ['gives an info twice', infos((list) => [...list, ...list])],
    ['gives infos of another block', infos((list) => list.map((info) => ({ ...info, blockNumber: 1 })))],
    ['calls a success a failure', infos((list) => list.map((info) => ({ ...info, result: 'FAILED' })))],
    [
      'gives a log of 19 bytes',
      infos((list) => list.map((info) => ({ ...info, log: [{ address: '00'.repeat(19) }] }))),
    ],
    ['lacks a block below its head', blocks((block, { num }) => (num === 2 ? {} : block))],
    ['keeps a transaction back', blocks((block) => ({ ...block, transactions: [] }))],
    [
      'gives the block of another height',
      blocks((block) => ({ ...block, blockID: `${'0'.repeat(16)}${'1'.repeat(48)}` })),
    ],
    [
      'gives another number than the id says',
      blocks((block) => {
        const header = block['block_header'] as { raw_data: Answer }
        return { ...block, block_header: { raw_data: { ...header.raw_data, number: 4 } } }
      }),
    ],
    [
      'gives blocks that are not linked',
      blocks((block, { num }) => {
        const header = block['block_header'] as { raw_data: Answer }
        return num === 2
          ? { ...block, block_header: { raw_data: { ...header.raw_data, parentHash: '1'.repeat(64) } } }
          : block
      }),
    ],
    [
      'changes a transaction under its id',
      blocks((block) => {
        const [first, ...rest] = (block['transactions'] ?? []) as Answer[]
        return first === undefined ? block : { ...block, transactions: [{ ...first, raw_data_hex: '0a02' }, ...rest] }
      }),
    ],
    ['answers in another shape', blocks(() => ({ blockID: 7 }))],
    ['cuts an answer off', ({ text, params }) => (params['num'] === 0 ? undefined : text.slice(0, text.length / 2))],
    ['answers with a page', ({ params }) => (params['num'] === 0 ? undefined : '<html>busy</html>')],
    ['answers nothing', ({ params }) => (params['num'] === 0 ? undefined : '')],
    ['refuses', ({ params }) => (params['num'] === 0 ? undefined : { Error: 'class java.lang.Exception : busy' })],
  ])('%s: the scan throws', async (_what, lie) => {
    await expect(client([await liar(lie)]).scan(0, 5, watches)).rejects.toEqual(unreliable)
  })
})

describe('a node that lies about its head', () => {
  it.each<[string, Lie]>([
    ['is solid above its head', when('/wallet/getnowblock', () => blockOne)],
    [
      'has a head with another number in its id',
      when('/wallet/getnowblock', (json) => ({ ...json, blockID: 'f'.repeat(64) })),
    ],
    ['has no head', when('/wallet/getnowblock', () => ({}))],
    ['has no solid head', when('/walletsolidity/getnowblock', () => ({}))],
    ['fails at its solid head', when('/walletsolidity/getnowblock', () => ({ Error: 'busy' }))],
  ])('%s: its head is not taken', async (_what, lie) => {
    // Guarantee: nothing is confirmed on the word of a node that contradicts itself.
    blockOne = await (await fetch(`${node.url}/wallet/getblockbynum?num=1`)).json()
    await expect(client([await liar(lie)]).head()).rejects.toEqual(unreliable)
  })
  let blockOne: unknown

  it('and about what it has at a height', async () => {
    const url = await liar(blocks(() => blockOne))
    await expect(client([url]).blockAt(2)).rejects.toEqual(unreliable)
  })
})

describe('a node that fails', () => {
  it('is left for the next one', async () => {
    const reader = client([await liar(() => 'busy'), node.url])
    expect((await reader.head()).height).toBe(5)
    expect(await summary(reader)).toEqual(EXPECTED)
  })

  // Guarantee: a provider that asks for peace gets it, and does not suspend us for longer.
  it('because it was asked too often is left alone for as long as it says', async () => {
    let requests = 0
    const url = await liar(() => {
      requests += 1
      return { Error: 'The key exceeds the frequency limit(15), and the query server is suspended for 30s' }
    }, 403)
    const reader = client([url])
    await expect(reader.head()).rejects.toEqual(unreliable)
    await expect(reader.head()).rejects.toThrow('every node asked for a pause')
    expect(requests).toBe(1)
    expect(await summary(client([url, node.url]))).toEqual(EXPECTED)
  })

  it('by its status is not believed, whatever it says', async () => {
    await expect(client([await liar(() => undefined, 503)]).head()).rejects.toEqual(unreliable)
  })

  it('is never named with the secrets of its URL', async () => {
    const error = await client(['http://s3cret@127.0.0.1:1/s3cret?key=s3cret'])
      .head()
      .catch((thrown: unknown) => thrown)
    expect(error).toEqual(unreliable)
    expect(JSON.stringify([String(error), error])).not.toContain('s3cret')
  })
})

describe('a node on another chain', () => {
  // Guarantee: money on another chain is never taken for money on ours.
  it.each<[string, Partial<TronClientOptions>]>([
    ['is refused as another test chain', { genesis: 'ab'.repeat(32) }],
    ['is refused as Nile', { genesis: null }],
    ['is refused as the main network', { mode: 'live', genesis: null }],
  ])('%s', async (_what, change) => {
    await expect(client([node.url], change).verify()).rejects.toEqual(mismatch)
    await expect(client([node.url], change).head()).rejects.toEqual(mismatch)
  })

  it.each([
    ['live', '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
    ['test', '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc'],
  ] as const)('is taken in %s mode when its first block is the right one', async (mode, blockID) => {
    const url = await liar(({ params, json }) => (params['num'] === 0 ? { ...(json as Answer), blockID } : undefined))
    expect(await client([url], { mode, genesis: null }).genesisHash()).toBe(blockID)
  })

  it('is refused when a token has other decimals or is none', async () => {
    const token = { asset: 'usdt_tron', contract: ASSETS.usdt_tron.contract } as const
    await expect(client([node.url], { tokens: [{ ...token, decimals: 18 }] }).verify()).rejects.toEqual(mismatch)
    const nowhere = { ...token, contract: ADDRESS, decimals: 6 }
    await expect(client([node.url], { tokens: [nowhere] }).verify()).rejects.toEqual(mismatch)
  })

  it('is not refused for a call that it could not make', async () => {
    const url = await liar(when('/triggerconstantcontract', () => ({ result: { code: 'SERVER_BUSY' } })))
    await expect(client([url]).verify()).rejects.toEqual(unreliable)
  })
})
