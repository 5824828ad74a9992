import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { SILENT } from '#test/support/evm-stage.ts'
import { createEvmClient } from './client.ts'
import { COIN_TRANSFER_TOPIC, SYSTEM_COIN, TRANSFER_TOPIC } from './extract.ts'
import { stateSyncHash } from './state-sync.ts'

const USDC = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'
const OURS = '33'.repeat(20)
const NOBODY = '00'.repeat(20)
const HEIGHT = 10
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const word = (hex: string) => `0x${hex.padStart(64, '0')}`

interface Scene {
  readonly logs: readonly object[]
  /** Also answers a receipt for this id. */
  readonly receipt?: string
  readonly refusesLogs?: boolean
}

const ordinary = {
  hash: hash(77),
  blockHash: hash(HEIGHT),
  from: `0x${'11'.repeat(20)}`,
  to: `0x${'22'.repeat(20)}`,
  value: '0x0',
}

function log(change: object = {}) {
  return {
    address: SYSTEM_COIN,
    topics: [COIN_TRANSFER_TOPIC, word('1010'), word(NOBODY), word(OURS)],
    data: `0x${'5'.padStart(64, '0')}${'0'.repeat(256)}`,
    blockNumber: `0x${HEIGHT.toString(16)}`,
    blockHash: hash(HEIGHT),
    transactionHash: hash(78),
    transactionIndex: '0x1',
    logIndex: '0x5',
    ...change,
  }
}

const tokenLog = (change: object = {}) =>
  log({
    address: USDC,
    topics: [TRANSFER_TOPIC, word(NOBODY), word(OURS)],
    data: word('9'),
    logIndex: '0x6',
    ...change,
  })

function answer({ logs, receipt, refusesLogs }: Scene, method: string, params: readonly unknown[]): unknown {
  if (method === 'eth_chainId') return '0x89'
  if (method === 'eth_blockNumber') return '0x64'
  if (method === 'eth_getBlockByNumber') return blockOf(Number(params[0]), params[1] === true)
  if (method === 'eth_getLogs') {
    const { fromBlock, blockHash } = params[0] as { fromBlock?: string; blockHash?: string }
    if (refusesLogs && fromBlock !== undefined) throw new Error('query returned more than 10000 results')
    return fromBlock === `0x${HEIGHT.toString(16)}` || blockHash === hash(HEIGHT) ? logs : []
  }
  if (method === 'eth_getTransactionReceipt') {
    const status = { status: '0x1', blockHash: hash(HEIGHT), blockNumber: '0xa' }
    if (params[0] === ordinary.hash) return { ...status, transactionHash: ordinary.hash, logs: [] }
    return params[0] === receipt ? { ...status, transactionHash: receipt, logs } : null
  }
  return null
}

function blockOf(height: number, full: boolean) {
  const transactions = height === HEIGHT ? [full ? ordinary : ordinary.hash] : []
  const logsBloom = `0x${'00'.repeat(256)}`
  return {
    number: `0x${height.toString(16)}`,
    hash: hash(height),
    parentHash: hash(height - 1),
    timestamp: '0x1',
    logsBloom,
    transactions,
  }
}

async function startBor(scene: Scene): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
      try {
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(scene, method, params) }))
      } catch (error) {
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_005, message: String(error) } }))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

/** What a client of Polygon makes of block 10 as these nodes show it. */
async function withClient<T>(
  scenes: readonly Scene[],
  work: (client: ReturnType<typeof createEvmClient>) => Promise<T>,
): Promise<T> {
  const nodes = await Promise.all(scenes.map(startBor))
  const client = createEvmClient({
    chain: CHAINS.polygon,
    mode: 'live',
    rpcUrls: nodes.map(({ url }) => url),
    chainId: 137,
    nativeAsset: 'pol_polygon',
    tokens: [{ asset: 'usdc_polygon', contract: USDC, decimals: 6 }],
    logsCoins: true,
    metrics: SILENT,
  })
  try {
    return await work(client)
  } finally {
    await client.close()
    for (const node of nodes) node.close()
  }
}

const watches = createWatchIndex()
watches.add(OURS)
const read = (scene: Scene): Promise<readonly RawTransfer[]> =>
  withClient([scene], async (client) =>
    (await client.scan(HEIGHT, HEIGHT, watches)).flatMap(({ transfers }) => transfers),
  )

describe("Polygon's state-sync transaction, which nodes do not list in its block", () => {
  // Guarantee: coins and tokens that Polygon syncs from Ethereum are credited, and their block stops nothing.
  it('credits the coin and the token that it moves', async () => {
    expect(await read({ logs: [log(), tokenLog()] })).toMatchObject([
      { asset: 'pol_polygon', amountBase: 5n, txHash: hash(78), matchKey: OURS },
      { asset: 'usdc_polygon', amountBase: 9n, txHash: hash(78), matchKey: OURS },
    ])
  })

  it('moves nothing of ours: the block is passed', async () => {
    expect(
      await read({ logs: [log({ topics: [COIN_TRANSFER_TOPIC, word('1010'), word(NOBODY), word('44')] })] }),
    ).toEqual([])
  })

  it('is read by its receipt when the node gives no logs of the block', async () => {
    const transactionHash = stateSyncHash({ number: HEIGHT, hash: hash(HEIGHT) })
    const logs = [log({ transactionHash })]
    expect(await read({ logs, receipt: transactionHash, refusesLogs: true })).toMatchObject([
      { asset: 'pol_polygon', amountBase: 5n, txHash: transactionHash },
    ])
  })

  it.each([
    ['two of them', [log(), log({ transactionHash: hash(79), logIndex: '0x6' })]],
    ['one at another place', [log({ transactionIndex: '0x2' })]],
    ['one in the place of a listed transaction', [log({ transactionIndex: '0x0' })]],
    ['one of another block', [log({ blockHash: hash(11) })]],
    ['a log twice', [log(), log()]],
  ])('is not believed as %s, and the failure names the block', async (_what, logs) => {
    await withClient([{ logs }], async (client) => {
      for (const _try of [1, 2]) {
        await expect(client.scan(HEIGHT, HEIGHT, watches)).rejects.toMatchObject({
          name: 'BlockUnreadable',
          block: { height: HEIGHT, hash: hash(HEIGHT), reason: expect.stringMatching(/log/) },
        })
      }
    })
  })

  it.each([
    ['has its receipt', { logs: [log()], receipt: hash(78) }, []],
    ['has its logs alone', { logs: [log()] }, []],
    ['has neither', { logs: [] }, [hash(78)]],
    ['shows another amount', { logs: [log({ data: `0x${'6'.padStart(64, '0')}${'0'.repeat(256)}` })] }, [hash(78)]],
  ])('confirms by a second node that %s', async (_what, second, disputed) => {
    const seen = await withClient([{ logs: [log()] }, second], async (client) => {
      const [block] = await client.scan(HEIGHT, HEIGHT, watches)
      const [transfer] = block?.transfers ?? []
      if (block === undefined || transfer === undefined) throw new Error('nothing was read')
      return client.disputed([{ txHash: transfer.txHash, height: HEIGHT, blockHash: block.hash, transfer }])
    })
    expect([...seen]).toEqual(disputed)
  })
})
