import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { SELECTORS, transferLog, word } from '#dev/local-chain/tron-node/trc20.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { formatAccount, parseAccount } from '#shared/chains/families/tron/address.ts'
import { createTronClient, type TronClient, type TronClientOptions } from '#shared/chains/families/tron/client.ts'
import { parseLosslessJson } from '#shared/chains/families/tron/lossless-json.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'

export const OURS = '9858effd232b4033e47d90003d41ec34ecaeda94'

export const ADDRESS = formatAccount(OURS)

export const PAYER = `41${'d'.repeat(40)}`

export const CONTRACT = `41${'c'.repeat(40)}`

export const USDT = `41${parseAccount(ASSETS.usdt_tron.contract)}`

export const HUGE = 9_007_199_254_740_993n

export const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }

export const watches = createWatchIndex()

watches.add(OURS)

export type Answer = Record<string, unknown>

export interface Truth {
  readonly path: string
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
  /** What the node said, text and parsed. */
  readonly text: string
  readonly json: unknown
}

/** What to say instead: text as it is, anything else as JSON. Undefined: the truth. */
export type Lie = (truth: Truth) => unknown

/** Lies about one request, and about block 0 never, by which the node is recognised. */
export const when =
  (path: string, change: (json: Answer, params: Truth['params']) => unknown): Lie =>
  (truth) =>
    truth.path.endsWith(path) && truth.params['num'] !== 0 ? change(truth.json as Answer, truth.params) : undefined

export const blocks = (change: (json: Answer, params: Truth['params']) => unknown): Lie => {
  const single = when('/getblockbynum', change)
  const several = when('/getblockbylimitnext', ({ block: list }, { startNum }) => ({
    block: (list as Answer[]).map((block, index) => change(block, { num: Number(startNum) + index })),
  }))
  return (truth) => single(truth) ?? several(truth)
}

export const infos = (change: (json: Answer[], params: Truth['params']) => unknown) =>
  when('/gettransactioninfobyblocknum', (json, params) => change(json as unknown as Answer[], params))

export const unreliable = expect.any(NodeUnreliable)

export const mismatch = expect.objectContaining({ name: 'NodeMismatch' })

export const summary = async (reader: TronClient) =>
  (await reader.scan(0, 5, watches)).flatMap((block) =>
    block.transfers.map(({ key, asset, amountBase }) => `${block.height} ${key.slice(-2)} ${asset} ${amountBase}`),
  )

export const EXPECTED = [
  `2 c0 trx_tron ${HUGE}`,
  '2 l0 usdt_tron 2500000',
  '3 l0 usdt_tron 3',
  '3 l0 usdt_tron 4',
  '3 :0 trx_tron 5',
]

/** A TRON node with transfers of every kind, nodes that lie about it, and clients of them. */
export function useTronNodes() {
  const at = {} as { node: TronNode }
  beforeAll(async () => {
    at.node = await startTronNode({ blockTimeMs: null, solidLag: 2 })
    at.node.mine()
    await at.node.pay({ asset: 'trx_tron', to: ADDRESS, amountBase: HUGE })
    await at.node.pay({ asset: 'usdt_tron', to: ADDRESS, amountBase: 2_500_000n })
    await at.node.pay({ asset: 'usdt_tron', to: formatAccount('e'.repeat(40)), amountBase: 1n })
    at.node.mine()
    const spend = `${SELECTORS['transferFrom(address,address,uint256)']}${word('a'.repeat(40))}${word(OURS)}${word(3n)}`
    at.node.submit({ kind: 'call', owner: PAYER, contract: USDT, data: spend })
    at.node.submit({ kind: 'call', owner: PAYER, contract: USDT, data: spend }, { result: 'OUT_OF_ENERGY' })
    const payout = { from: CONTRACT, to: `41${OURS}`, amount: '5', note: 'call' }
    at.node.submit(
      { kind: 'call', owner: PAYER, contract: CONTRACT, data: '' },
      {
        internals: [{ ...payout, rejected: true }, { ...payout, note: 'delegateResourceOfEnergy' }, payout],
        logs: [transferLog(USDT, '0', OURS, 4n), transferLog(CONTRACT, '0', OURS, 6n)],
      },
    )
    at.node.submit(
      { kind: 'call', owner: PAYER, contract: CONTRACT, data: '' },
      { result: 'REVERT', internals: [payout] },
    )
    at.node.mine(3)
  })

  afterAll(() => at.node.stop())

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

  /** A node that answers like ours, except where it lies. */
  async function liar(lie: Lie, status = 200): Promise<string> {
    const server: Server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        fetch(`${at.node.url}${request.url ?? ''}`, { method: 'POST', body })
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

  return { at, opened, client, liar }
}
