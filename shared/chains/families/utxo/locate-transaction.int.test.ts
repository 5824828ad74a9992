import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'

const silent = { count: () => {}, gauge: () => {}, observe: () => {} }
const FORGOTTEN = 'ab'.repeat(32)

let plain: LitecoinNode
let indexed: LitecoinNode
beforeAll(async () => {
  ;[plain, indexed] = await Promise.all([
    startLitecoinNode({ blockTimeMs: null }),
    startLitecoinNode({ blockTimeMs: null, flags: ['-txindex=1'] }),
  ])
})
afterAll(() => Promise.all([plain.stop(), indexed.stop()]))

async function located(node: LitecoinNode, txid: string) {
  const networks = { live: {}, test: { litecoin: { rpcUrls: [node.url], genesis: 'any' } } }
  const client = createChainClient(networks, 'test', 'litecoin', silent)
  if (client?.locate === undefined) throw new Error('no client that looks up transactions')
  try {
    return await client.locate(txid)
  } finally {
    await client.close()
  }
}

const paid = (node: LitecoinNode) =>
  node.pay([{ to: `0014${randomBytes(20).toString('hex')}`, amountBase: 5_000_000n }])

it('a node with an index shows where a transaction is, wherever that is', async () => {
  const txid = await paid(indexed)
  expect(await located(indexed, txid)).toBe('unconfirmed')
  const [blockHash] = await indexed.mine()
  const height = (await indexed.rpc('getblockcount')) as number
  expect(await located(indexed, txid)).toEqual({ height, blockHash, succeeded: true })
  await indexed.invalidate(1)
  expect(await located(indexed, txid)).toBe('unconfirmed')
  expect(await located(indexed, FORGOTTEN)).toBeNull()
})

// A person who reads "unknown" believes that the payer never sent anything.
it('a node without one says that it cannot look, not that there is nothing', async () => {
  const txid = await paid(plain)
  expect(await located(plain, txid)).toBe('unconfirmed')
  await plain.mine()
  expect(await located(plain, FORGOTTEN)).toBe('not_searchable')
})
