import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Block, Transaction } from 'bitcoinjs-lib'
import { afterEach, describe, expect, it } from 'vitest'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const SCRIPT = `76a914${'44'.repeat(20)}88ac`
/** 100,000,000.00000001 DOGE: no double holds it. */
const AMOUNT = 10_000_000_000_000_001n
const watches = createWatchIndex()
watches.add(SCRIPT)

/** Three linked blocks as Dogecoin has them: the last two merged-mined, the last one with a payment to us. */
const first = block(0, undefined)
const second = block(1, first)
const chain = [first, second, block(2, second)]
const idOf = (height: number) => chain[height]?.getId() ?? ''

function block(height: number, parent: Block | undefined): Block {
  const made = new Block()
  made.version = height === 0 ? 1 : 0x0062_0104
  made.timestamp = 1_700_000_000 + height
  made.bits = 0x207f_ffff
  made.nonce = height
  made.prevHash = parent?.getHash() ?? new Uint8Array(32)
  made.transactions = [
    transaction(height, 0xffff_ffff, 5n, '6a'),
    transaction(height, 1, AMOUNT, height === 2 ? SCRIPT : '6a'),
  ]
  made.merkleRoot = Block.calculateMerkleRoot(made.transactions, false)
  return made
}

function transaction(salt: number, index: number, amount: bigint, script: string): Transaction {
  const made = new Transaction()
  made.addInput(new Uint8Array(32).fill(salt), index)
  made.addOutput(Buffer.from(script, 'hex'), amount)
  return made
}

function serialised(made: Block): string {
  const proof = [transaction(9, 0xffff_ffff, 1n, '6a').toBuffer(), new Uint8Array(32 + 1 + 4 + 1 + 4 + 80)]
  const transactions = made.transactions ?? []
  return Buffer.concat([
    made.toBuffer(true),
    ...(made.version === 1 ? [] : proof),
    Buffer.of(transactions.length),
    ...transactions.map((one) => one.toBuffer()),
  ]).toString('hex')
}

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}
type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }
const refusal = (code: number, message: string): Answer => ({ error: { code, message } })

/** Dogecoin Core 1.14: `getblock` knows a boolean only, and `getrawtransaction` no block hash; here without `-txindex`. */
function dogecoin({ method, params: [first, second, third] }: Call): Answer {
  const found = chain.find((one) => one.getId() === first)
  switch (method) {
    case 'getblockchaininfo':
      return { result: { chain: 'regtest', blocks: 2, bestblockhash: idOf(2) } }
    case 'getblockhash':
      return typeof first === 'number' && chain[first] !== undefined
        ? { result: idOf(first) }
        : refusal(-8, 'Block height out of range')
    case 'getblockheader':
      return found === undefined ? refusal(-5, 'Block not found') : { result: serialised(found).slice(0, 400) }
    case 'getblock':
      if (found !== undefined && second === undefined)
        return { result: { tx: found.transactions?.map((one) => one.getId()) } }
      if (typeof second !== 'boolean') return refusal(-1, 'JSON value is not a boolean as expected')
      return found === undefined ? refusal(-5, 'Block not found') : { result: serialised(found) }
    case 'getrawtransaction':
      if (third !== undefined) return refusal(-1, 'getrawtransaction "txid" ( verbose )')
      return refusal(-5, 'No such mempool transaction. Use -txindex to enable blockchain transaction queries.')
    case 'getrawmempool':
      return { result: [] }
    default:
      return refusal(-32_601, 'Method not found')
  }
}

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
})

type Lie = (call: Call, truth: Answer) => Answer | string

async function serve(lie: Lie, calls: Call[] = []): Promise<string> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString()) as Call
      calls.push(call)
      const answer = lie(call, dogecoin(call))
      if (typeof answer === 'string') return response.writeHead(500).end(answer)
      // Core answers in the form of JSON-RPC 1.0, errors with status 500.
      response.writeHead('error' in answer ? 500 : 200)
      return response.end(JSON.stringify({ result: null, error: null, id: 1, ...answer }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function open(urls: readonly string[], genesis = idOf(0)): OpenChainClient {
  const settings = { live: {}, test: { dogecoin: { rpcUrls: urls, genesis } } }
  const client = createChainClient(settings, 'test', 'dogecoin', silent)
  if (client === null) throw new Error('no client')
  opened.push(client)
  return client
}

const honest: Lie = (_call, truth) => truth
const unreliable = expect.any(NodeUnreliable)

describe('Dogecoin Core with a boolean-only getblock', () => {
  it('is read exactly, merged-mined blocks included, and asked in its own way from then on', async () => {
    const calls: Call[] = []
    const client = open([await serve(honest, calls)])
    await client.verify()
    const blocks = await client.scan(0, 2, watches)
    expect(blocks.flatMap(({ transfers }) => transfers.map(({ amountBase }) => amountBase))).toEqual([AMOUNT])
    expect(blocks.map(({ hash }) => hash)).toEqual([idOf(0), idOf(1), idOf(2)])
    expect(await client.head()).toEqual({ height: 2, hash: idOf(2), finalizedHeight: null })
    expect(await client.blockAt(2)).toMatchObject({ hash: idOf(2), parentHash: idOf(1), time: 1_700_000_002_000 })
    calls.length = 0
    await client.scan(2, 2, watches)
    expect(calls.filter(({ method }) => method === 'getblock').map(({ params }) => params[1])).toEqual([false])
  })

  /** A node that gives no block whole and finds mined transactions in its index. */
  const indexed: Lie = (call, truth) => {
    const mined = chain.flatMap(({ transactions }) => transactions ?? [])
    const found = mined.find((one) => one.getId() === call.params[0])
    if (call.method === 'getblock' && typeof call.params[1] === 'boolean') return 'Work queue depth exceeded'
    if (call.method !== 'getrawtransaction' || found === undefined || call.params.length > 1) return truth
    return { result: Buffer.from(found.toBuffer()).toString('hex') }
  }

  it('that gives no block whole is read transaction by transaction where it has an index', async () => {
    const calls: Call[] = []
    const client = open([await serve(indexed, calls)])
    await expect(client.scan(2, 2, watches)).rejects.toMatchObject({ block: { height: 2, method: 'getblock' } })
    const [block] = await client.scan(2, 2, watches)
    expect(block).toMatchObject({ hash: idOf(2), parentHash: idOf(1) })
    expect(block?.transfers).toMatchObject([{ amountBase: AMOUNT, txHash: chain[2]?.transactions?.[1]?.getId() }])
    const forms = calls.filter(({ method }) => method === 'getrawtransaction').map(({ params }) => params.length)
    expect(forms.lastIndexOf(3)).toBeLessThan(forms.lastIndexOf(1))
  })

  it('that gives no block whole and has no index is named with the reason, and another node is asked', async () => {
    const unindexed: Lie = (call, truth) => (call.method === 'getrawtransaction' ? truth : indexed(call, truth))
    const urls = [await serve(unindexed), await serve(unindexed)]
    const client = open(urls)
    await expect(client.scan(2, 2, watches)).rejects.toMatchObject({ block: { height: 2, method: 'getblock' } })
    await expect(client.scan(2, 2, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height: 2, hash: idOf(2), method: 'getrawtransaction', reason: expect.stringContaining('-txindex') },
    })
    const helped = open([await serve(unindexed), await serve(indexed)])
    await expect(helped.scan(2, 2, watches)).rejects.toMatchObject({ block: { height: 2 } })
    expect((await helped.scan(2, 2, watches))[0]?.transfers).toMatchObject([{ amountBase: AMOUNT }])
  })

  it('that lacks a height is not asked elsewhere, it has answered', async () => {
    const calls: Call[] = []
    const client = open([await serve(honest, calls), await serve(() => 'never asked')])
    expect(await client.blockAt(3)).toBeNull()
    expect(await client.blockAt(1)).toMatchObject({ hash: idOf(1) })
  })
})

const when =
  (method: string, answer: (truth: Answer, call: Call) => Answer | string): Lie =>
  (call, truth) =>
    call.method === method ? answer(truth, call) : truth
const bend = (truth: Answer, change: (hex: string) => string): Answer =>
  'result' in truth && typeof truth.result === 'string' ? { result: change(truth.result) } : truth

describe('a node that lies', () => {
  // Guarantee: a doubtful answer stops the scan, so the cursor cannot pass money by and nothing false is credited.
  it.each<[string, Lie]>([
    ['gives another block', when('getblock', () => ({ result: serialised(second) }))],
    ['cuts a block', when('getblock', (truth) => bend(truth, (hex) => hex.slice(0, -2)))],
    ['appends to a block', when('getblock', (truth) => bend(truth, (hex) => `${hex}00`))],
    [
      'leaves a transaction out',
      when('getblock', (truth) =>
        bend(truth, (hex) => hex.slice(0, hex.lastIndexOf('01000000')).replace(/02(?=01000000(?!.*01000000))/, '01')),
      ),
    ],
    [
      'raises an amount',
      when('getblock', (truth) => bend(truth, (hex) => hex.replace(/0100c16ff28623/, '0200c16ff28623'))),
    ],
    ['answers something other than hex', when('getblock', (truth) => bend(truth, (hex) => `zz${hex}`))],
    ['answers null', when('getblock', () => ({ result: null }))],
    ['has lost the block', when('getblock', () => refusal(-5, 'Block not found'))],
    ['has pruned the block', when('getblock', () => refusal(-1, 'Block not available (pruned data)'))],
    [
      'is still starting',
      when('getblockhash', (truth, { params }) => (params[0] === 0 ? truth : refusal(-28, 'Loading block index...'))),
    ],
    ['is overloaded', when('getblock', () => 'Work queue depth exceeded')],
    [
      'lacks a height below its head',
      when('getblockhash', (truth, { params }) => (params[0] === 1 ? refusal(-8, 'Block height out of range') : truth)),
    ],
    [
      'repeats a block at another height',
      when('getblockhash', (truth, { params }) => (params[0] === 2 ? { result: idOf(1) } : truth)),
    ],
    [
      'gives a hash of another form',
      when('getblockhash', (truth, { params }) => (params[0] === 2 ? { result: '0x12' } : truth)),
    ],
  ])('%s: the scan throws', async (_what, lie) => {
    await expect(open([await serve(lie)]).scan(0, 2, watches)).rejects.toEqual(unreliable)
  })

  it('about one block is told by its height, hash, call and words', async () => {
    const client = open([await serve(when('getblock', () => 'Work queue depth exceeded'))])
    await expect(client.scan(1, 1, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height: 1, hash: idOf(1), method: 'getblock', reason: expect.stringContaining('127.0.0.1') },
    })
  })

  it.each<[string, Lie]>([
    ['about its mempool', when('getrawmempool', () => ({ result: [7] }))],
    [
      'about a transaction in it',
      (call, truth) =>
        call.method === 'getrawtransaction'
          ? { result: 'zz' }
          : when('getrawmempool', () => ({ result: ['12'.repeat(32)] }))(call, truth),
    ],
  ])('%s: the look throws', async (_what, lie) => {
    await expect(open([await serve(lie)]).mempool?.(watches, new Set())).rejects.toEqual(unreliable)
  })

  it.each<[string, Lie]>([
    ['has no head', when('getblockchaininfo', () => ({ result: { blocks: -1, bestblockhash: 'none' } }))],
    ['gives another header', when('getblockheader', (truth) => bend(truth, (hex) => `ff${hex.slice(2)}`))],
  ])('%s: asking throws', async (_what, lie) => {
    const client = open([await serve(lie)])
    await expect(Promise.all([client.head(), client.blockAt(1)])).rejects.toEqual(unreliable)
  })

  it('is left for the next one', async () => {
    const liar = await serve(when('getblock', (truth) => bend(truth, (hex) => hex.slice(0, -2))))
    const blocks = await open([liar, await serve(honest)]).scan(0, 2, watches)
    expect(blocks.flatMap(({ transfers }) => transfers.map(({ amountBase }) => amountBase))).toEqual([AMOUNT])
  })
})

describe('a node that hears of no transactions', () => {
  const isolated = when('getconnectioncount', () => ({ result: 0 }))
  const downloading = when('getblockchaininfo', (truth) => ({
    result: { ...('result' in truth ? (truth.result as object) : {}), initialblockdownload: true },
  }))
  const look = async (urls: string[], genesis?: string) => open(urls, genesis).mempool?.(watches, new Set())

  // Guarantee: no deadline passes because of a mempool that cannot hold the payment.
  it.each([
    ['has no peers', isolated],
    ['has not the whole chain yet', downloading],
  ])('because it %s is left for another one, and shows nothing where it is alone', async (_what, lie) => {
    await expect(look([await serve(lie)])).rejects.toEqual(unreliable)
    expect(await look([await serve(lie), await serve(honest)])).toMatchObject({ partial: false })
  })

  it.each([
    ['has peers', when('getconnectioncount', () => ({ result: 8 }))],
    ['does not say', honest],
    ['may not say', when('getconnectioncount', () => 'forbidden')],
  ])('is not one that %s', async (_what, lie) => {
    expect(await look([await serve(lie)])).toMatchObject({ partial: false })
  })

  it('is nothing strange on a local chain', async () => {
    expect(await look([await serve(isolated)], 'any')).toMatchObject({ partial: false })
  })
})

describe('a second node', () => {
  const payment = { txHash: 'ab'.repeat(32), height: 1, blockHash: idOf(1) }
  const doubtedBy = async (lie: Lie) => {
    const reader = open([await serve(honest), await serve(lie)])
    await reader.scan(1, 2, watches)
    return reader.doubted?.([payment, { ...payment, txHash: 'cd', height: 2 }])
  }

  // Guarantee: what only one node says confirms nothing where there is another one to ask.
  it('doubts what it has in no such block', async () => {
    expect(await doubtedBy(honest)).toEqual(new Set(['cd']))
    expect(
      await doubtedBy(when('getblockhash', (truth, { params }) => (params[0] === 1 ? { result: idOf(2) } : truth))),
    ).toEqual(new Set([payment.txHash, 'cd']))
  })

  it('that is silent or behind leaves the question open', async () => {
    await expect(doubtedBy(() => 'out of order')).rejects.toEqual(unreliable)
    const behind = { result: { blocks: 0, bestblockhash: idOf(0) } }
    await expect(doubtedBy(when('getblockchaininfo', () => behind))).rejects.toEqual(unreliable)
  })

  it('is not needed, and one of another chain is none', async () => {
    expect(await open([await serve(honest)]).doubted?.([payment])).toEqual(new Set())
    const foreign = when('getblockhash', (truth, { params }) => (params[0] === 0 ? { result: idOf(1) } : truth))
    expect(await doubtedBy(foreign)).toEqual(new Set())
  })
})
