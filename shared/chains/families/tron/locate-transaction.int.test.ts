import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { formatAccount } from './address.ts'
import { locateTransaction } from './locate-transaction.ts'

const BOB = formatAccount('b'.repeat(40))
const PAYER = `41${'d'.repeat(40)}`
let node: TronNode
let client: OpenChainClient | null

beforeAll(async () => {
  node = await startTronNode({ blockTimeMs: null })
  const settings = { rpcUrls: [node.url], genesis: node.genesis }
  const silent = { count: () => {}, gauge: () => {}, observe: () => {} }
  client = createChainClient({ live: {}, test: { tron: settings } }, 'test', 'tron', silent)
})
afterAll(async () => {
  await client?.close()
  await node.stop()
})

it('a transaction is shown in its block, with its outcome', async () => {
  const paid = (await node.pay({ asset: 'usdt_tron', to: BOB, amountBase: 5n })).txHash
  const failed = node.submit({ kind: 'call', owner: PAYER, contract: PAYER, data: '' }, { result: 'REVERT' })
  node.mine(1)
  const place = await client?.locate?.(paid)
  if (place === null || typeof place !== 'object') throw new Error('not found')
  expect(place).toEqual({
    height: place.height,
    blockHash: (await client?.blockAt(place.height))?.hash,
    succeeded: true,
  })
  expect(await client?.locate?.(failed)).toMatchObject({ succeeded: false })
  expect(await client?.locate?.('f'.repeat(64))).toBeNull()
})

it('a node that names a block without the transaction is not believed', async () => {
  const id = 'a'.repeat(64)
  const info = { id, blockNumber: 1, receipt: {} }
  const call = async (path: string) =>
    path.endsWith('infobyid') ? info : { blockID: 'b'.repeat(64), transactions: [] }
  await expect(locateTransaction({ call: call as never }, id)).rejects.toMatchObject({ name: 'NodeUnreliable' })
})

it('the info of another transaction is not believed', async () => {
  const [id, other] = ['a'.repeat(64), 'c'.repeat(64)]
  const info = { id: other, blockNumber: 1, receipt: {} }
  const block = { blockID: 'b'.repeat(64), transactions: [{ txID: id, ret: [{ contractRet: 'SUCCESS' }] }] }
  const call = async (path: string) => (path.endsWith('infobyid') ? info : block)
  await expect(locateTransaction({ call: call as never }, id)).rejects.toMatchObject({ name: 'NodeUnreliable' })
})
