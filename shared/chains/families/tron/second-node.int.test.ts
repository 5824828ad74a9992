import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTronNode, type TronNode } from '#scripts/local-chain/tron-node/start-tron-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/watch-index.ts'
import { formatAccount, parseAccount } from './address.ts'

const BOB = formatAccount('b'.repeat(40))
const PAYER = `41${'d'.repeat(40)}`
const GONE = 'http://127.0.0.1:1'

let node: TronNode
let stranger: TronNode
/** The same node once more, as another member of the pool. */
let same: string
const ids = { paid: '', failed: '' }
const opened: OpenChainClient[] = []
beforeAll(async () => {
  node = await startTronNode({ blockTimeMs: null })
  stranger = await startTronNode({ blockTimeMs: null })
  same = `${node.url}/`
  ids.paid = (await node.pay({ asset: 'usdt_tron', to: BOB, amountBase: 5n })).txHash
  ids.failed = node.submit({ kind: 'call', owner: PAYER, contract: PAYER, data: '' }, { result: 'REVERT' })
  node.mine(2)
})
afterAll(async () => {
  for (const client of opened) await client.close()
  await Promise.all([node.stop(), stranger.stop()])
})

function client(...rpcUrls: string[]): OpenChainClient {
  const silent = { count: () => {}, gauge: () => {}, observe: () => {} }
  const made = createChainClient(
    { live: {}, test: { tron: { rpcUrls, genesis: node.genesis } } },
    'test',
    'tron',
    silent,
  )
  if (made === null) throw new Error('no client')
  opened.push(made)
  return made
}
/** Block 1, which the first node of the client gave. */
async function scanned(reader: OpenChainClient) {
  const [block] = await reader.scan(1, 1, createWatchIndex())
  return { height: 1, blockHash: block?.hash ?? '' }
}

// Guarantee: what only one of two nodes shows is not confirmed.
it('doubts what a second node does not show as successful in the same block', async () => {
  const reader = client(node.url, same)
  const at = await scanned(reader)
  const asked = [
    { txHash: ids.paid, ...at },
    { txHash: ids.failed, ...at },
    { txHash: 'f'.repeat(64), ...at },
    { txHash: 'e'.repeat(64), ...at, height: 2 },
  ]
  expect(await reader.doubted?.(asked)).toEqual(new Set([ids.failed, 'f'.repeat(64), 'e'.repeat(64)]))
  const elsewhere = [{ txHash: ids.paid, height: 1, blockHash: 'a'.repeat(64) }]
  expect(await reader.doubted?.(elsewhere)).toEqual(new Set([ids.paid]))
})

// Guarantee: one of two nodes cannot inflate, redirect or rename what a real transaction paid.
it('doubts a transfer of another amount, receiver or token than the second node shows', async () => {
  const reader = client(node.url, same)
  const watches = createWatchIndex()
  watches.add(parseAccount(BOB))
  const [block] = await reader.scan(1, 1, watches)
  const [transfer] = block?.transfers ?? []
  if (block === undefined || transfer === undefined) throw new Error('nothing was paid')
  const doubts = async (change: Partial<typeof transfer>) => {
    const question = { txHash: ids.paid, height: 1, blockHash: block.hash, transfer: { ...transfer, ...change } }
    return (await reader.doubted?.([question]))?.has(ids.paid)
  }
  expect(await doubts({})).toBe(false)
  expect(await doubts({ key: `${transfer.key}:5` })).toBe(false)
  expect(await doubts({ amountBase: 6n })).toBe(true)
  expect(await doubts({ matchKey: 'c'.repeat(40) })).toBe(true)
  expect(await doubts({ contract: formatAccount('e'.repeat(40)) })).toBe(true)
  expect(await doubts({ key: `${transfer.key}0` })).toBe(true)
  const inside = { key: `test:tron:${ids.paid}:x0`, contract: null }
  // This node was never seen to record what moves inside of calls.
  expect(await doubts(inside)).toBe(false)
})

it('asks a third node when the second one is gone or on another chain', async () => {
  const reader = client(node.url, GONE, stranger.url, same)
  expect(await reader.doubted?.([{ txHash: ids.paid, ...(await scanned(reader)) }])).toEqual(new Set())
})

it('says so when nobody else answers, and has no doubts where there is one node only', async () => {
  const reader = client(node.url, GONE, stranger.url)
  const asked = [{ txHash: ids.paid, ...(await scanned(reader)) }]
  await expect(reader.doubted?.(asked)).rejects.toMatchObject({ name: 'NodeUnreliable' })
  expect(client(node.url).doubted).toBeUndefined()
})
