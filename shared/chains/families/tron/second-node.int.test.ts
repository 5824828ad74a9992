import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
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
/** The same node with `saveFeaturedInternalTx`: every call has a record in front that pays nobody. */
async function startFeaturedNode(url: string) {
  let added = 0
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const init = { method: 'POST', body: Buffer.concat(chunks) }
      const text = await (await fetch(new URL(request.url ?? '', url), init)).text()
      const more = '"internal_transactions":[{"hash":"00","caller_address":"","note":"66726565"},'
      const changed = text.replaceAll('"internal_transactions":[{', () => {
        added += 1
        return `${more}{`
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end(changed)
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { url: `http://127.0.0.1:${port}`, added: () => added, stop }
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
  const inputs = [
    { txHash: ids.paid, ...at },
    { txHash: ids.failed, ...at },
    { txHash: 'f'.repeat(64), ...at },
    { txHash: 'e'.repeat(64), ...at, height: 2 },
  ]
  expect(await reader.disputed?.(inputs)).toEqual(new Set([ids.failed, 'f'.repeat(64), 'e'.repeat(64)]))
  const elsewhere = [{ txHash: ids.paid, height: 1, blockHash: 'a'.repeat(64) }]
  expect(await reader.disputed?.(elsewhere)).toEqual(new Set([ids.paid]))
})

// Guarantee: one of two nodes cannot inflate, redirect or rename what a real transaction paid.
it('doubts a transfer of another amount, receiver or token than the second node shows', async () => {
  const reader = client(node.url, same)
  const watches = createWatchIndex()
  watches.add(parseAccount(BOB))
  const [block] = await reader.scan(1, 1, watches)
  const [transfer] = block?.transfers ?? []
  if (block === undefined || transfer === undefined) throw new Error('nothing was paid')
  const disputes = async (change: Partial<typeof transfer>) => {
    const question = { txHash: ids.paid, height: 1, blockHash: block.hash, transfer: { ...transfer, ...change } }
    return (await reader.disputed?.([question]))?.has(ids.paid)
  }
  expect(await disputes({})).toBe(false)
  expect(await disputes({ key: `${transfer.key}:5` })).toBe(false)
  expect(await disputes({ amountBase: 6n })).toBe(true)
  expect(await disputes({ matchKey: 'c'.repeat(40) })).toBe(true)
  expect(await disputes({ contract: formatAccount('e'.repeat(40)) })).toBe(true)
  expect(await disputes({ key: `${transfer.key}0` })).toBe(true)
  const inside = { key: `test:tron:${ids.paid}:i:-:${BOB}:5:0`, contract: null }
  // This node was never seen to record what moves inside of calls.
  expect(await disputes(inside)).toBe(false)
})

// Guarantee: nodes that keep different internal records vouch for each other.
it('vouches for coins inside of a call although the second node keeps more records', async () => {
  const call = { kind: 'call', owner: PAYER, contract: PAYER, data: '' } as const
  const paid = { from: PAYER, to: `41${'b'.repeat(40)}`, amount: '7', note: 'call' }
  const txHash = node.submit(call, { internals: [paid] })
  node.mine()
  const height = node.height()
  const featured = await startFeaturedNode(node.url)
  const reader = client(node.url, featured.url)
  const watches = createWatchIndex()
  watches.add(parseAccount(BOB))
  const [block] = await reader.scan(height, height, watches)
  const transfer = block?.transfers.find((one) => one.txHash === txHash)
  if (block === undefined || transfer === undefined) throw new Error('nothing was paid')
  const disputes = async (change: Partial<typeof transfer>) =>
    (await reader.disputed?.([{ txHash, height, blockHash: block.hash, transfer: { ...transfer, ...change } }]))?.size
  expect(await disputes({})).toBe(0)
  expect(featured.added()).toBeGreaterThan(0)
  // One more of the same than the second node shows.
  expect(await disputes({ key: transfer.key.replace(/0$/, '1') })).toBe(1)
  await featured.stop()
})

it('asks a third node when the second one is gone or on another chain', async () => {
  const reader = client(node.url, GONE, stranger.url, same)
  expect(await reader.disputed?.([{ txHash: ids.paid, ...(await scanned(reader)) }])).toEqual(new Set())
})

it('says so when nobody else answers, and has no doubts where there is one node only', async () => {
  const reader = client(node.url, GONE, stranger.url)
  const inputs = [{ txHash: ids.paid, ...(await scanned(reader)) }]
  await expect(reader.disputed?.(inputs)).rejects.toMatchObject({ name: 'NodeUnreliable' })
  expect(client(node.url).disputed).toBeUndefined()
})

// Guarantee: HTTP does not tie an answer to its request: a block of another height is no vote against ours.
it('takes no vote from an answer about another block', async () => {
  const front = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString().replace('"num":2', '"num":1')
      const text = await (await fetch(new URL(request.url ?? '', node.url), { method: 'POST', body })).text()
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void front.close())
  const url = (path: string) => `http://127.0.0.1:${(front.address() as AddressInfo).port}/${path}`
  const hash = (await client(node.url).blockAt(2))?.hash ?? ''
  const reader = client(url(''), url('second/..'), node.url)
  expect(await reader.voteOnFork?.({ height: 2, hash })).not.toBe('gone')
})
