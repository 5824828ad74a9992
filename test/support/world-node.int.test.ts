import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import type { RpcAnswer } from './lying-node.ts'
import { STATE_GONE } from './refusals.ts'
import { freshChain } from './worker-chain.ts'
import { HONEST, startWorldNode, type WorldNode } from './world-node.ts'

const ACCOUNT = `0x${'5a'.repeat(20)}`
const HEAD = 40

let chain: LocalChain
let node: WorldNode
beforeAll(async () => {
  chain = await freshChain()
  const [payer] = (await chain.rpc('eth_accounts')) as readonly string[]
  // One wei in every block.
  for (let height = 1; height <= HEAD; height += 1) {
    await chain.rpc('eth_sendTransaction', [{ from: payer, to: ACCOUNT, value: '0x1', gas: '0x5208' }])
    await chain.mine()
  }
})
beforeEach(async () => {
  node = await startWorldNode(chain.url)
})
afterEach(() => node.close())

async function request(method: string, ...params: unknown[]): Promise<RpcAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(node.url, { method: 'POST', body })
  const { result, error } = (await response.json()) as RpcAnswer
  return {
    ...(error === undefined ? { result } : { error }),
    ...(response.status !== 200 && { status: response.status }),
  }
}
const hashAt = async (height: number) =>
  ((await chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])) as { readonly hash: string }).hash
const balanceAt = async (height: number) => request('eth_getBalance', ACCOUNT, { blockHash: await hashAt(height) })

describe('a provider', () => {
  it('is a node without traces at first', async () => {
    expect(await balanceAt(3)).toEqual({ result: '0x3' })
    expect(await request('trace_block', '0x3')).toMatchObject({ error: { code: -32_601 } })
    expect(await request('eth_blockNumber')).toEqual({ result: `0x${HEAD.toString(16)}` })
  })

  it.each(['geth', 'chainstack'] as const)(
    'has the state of the newest blocks alone, in the words of %s',
    async (words) => {
      node.become({ ...HONEST, stateBlocks: 30, words, hasTraces: true })
      expect(await balanceAt(HEAD - 29)).toEqual({ result: `0x${(HEAD - 29).toString(16)}` })
      expect(await balanceAt(HEAD - 30)).toEqual(STATE_GONE[words])
      expect(await request('trace_block', '0x3')).toEqual(STATE_GONE[words])
      expect((await request('eth_getBlockByNumber', '0x3', false)).result).toMatchObject({ number: '0x3' })
    },
  )

  it('ignores hashes', async () => {
    node.become({ ...HONEST, ignoresHashes: true })
    expect(await balanceAt(3)).toEqual({ result: `0x${HEAD.toString(16)}` })
  })

  it('has a back end that is behind', async () => {
    node.become({ ...HONEST, lagBlocks: 2 })
    const heads = [await request('eth_blockNumber'), await request('eth_blockNumber')].map(({ result }) =>
      Number(result),
    )
    expect(heads.sort()).toEqual([HEAD - 2, HEAD])
    const newest = await hashAt(HEAD)
    const figures = [await balanceAt(HEAD), await balanceAt(HEAD)]
    expect(figures.filter(({ error }) => error !== undefined)).toHaveLength(1)
    const blocks = [
      await request('eth_getBlockByHash', newest, false),
      await request('eth_getBlockByHash', newest, false),
    ]
    expect(blocks.filter(({ result }) => result === null)).toHaveLength(1)
  })

  it('calls its head final', async () => {
    node.become({ ...HONEST, isFinalAtHead: true })
    const { result } = await request('eth_getBlockByNumber', 'finalized', false)
    expect(result).toMatchObject({ number: `0x${HEAD.toString(16)}` })
  })

  it('refuses as often as it was said, and is a day ahead as often', async () => {
    node.refuse({ status: 408, error: { code: 30, message: 'Request timeout on the free tier' } }, 1)
    expect(await request('eth_blockNumber')).toMatchObject({ status: 408, error: { code: 30 } })
    expect(await request('eth_blockNumber')).not.toHaveProperty('error')
    const timeOf = async () => {
      const { result } = await request('eth_getBlockByNumber', 'latest', false)
      return Number((result as { readonly timestamp: string }).timestamp)
    }
    const time = await timeOf()
    node.runAhead(86_400, 1)
    expect([await timeOf(), await timeOf()]).toEqual([time + 86_400, time])
  })
})
