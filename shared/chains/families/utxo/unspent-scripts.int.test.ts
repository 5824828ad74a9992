import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { Metrics } from '#shared/ports/runtime.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
let node: LitecoinNode
beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null })
})
afterAll(() => node.stop())
const opened: OpenChainClient[] = []
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close()
})

/** Which of these scripts a client of the node says were used. */
async function used(scripts: readonly string[], genesis = 'any'): Promise<ReadonlySet<string> | undefined> {
  const settings = { live: {}, test: { litecoin: { rpcUrls: [node.url], genesis } } }
  const client = createChainClient(settings, 'test', 'litecoin', silent)
  if (client === null) throw new Error('no client')
  opened.push(client)
  return client.used?.(scripts.map((matchKey) => ({ address: matchKey, matchKey })))
}

const hash = () => randomBytes(20).toString('hex')

it('finds coins under scripts of every type among a thousand, and nothing else', async () => {
  const paid = [`0014${hash()}`, `a914${hash()}87`, `76a914${hash()}88ac`]
  await node.pay(paid.map((to) => ({ to, amountBase: 100_000n })))
  expect(await used(paid)).toEqual(new Set())
  await node.mine(1)
  const others = Array.from({ length: 997 }, () => `0014${hash()}`)
  expect(await used([...others, ...paid])).toEqual(new Set(paid))
})

// The guides say so: for these a start index is needed.
it('does not find a script whose coins were spent', async () => {
  const call = async <T>(method: string, ...params: readonly unknown[]) => (await node.rpc(method, params)) as T
  const address = await call<string>('getnewaddress', '', 'bech32')
  const { scriptPubKey } = await call<{ scriptPubKey: string }>('getaddressinfo', address)
  await node.pay([{ to: scriptPubKey, amountBase: 1_000_000n }])
  await node.mine(1)
  expect(await used([scriptPubKey])).toEqual(new Set([scriptPubKey]))
  const [coin] = await call<{ txid: string; vout: number }[]>('listunspent', 1, 999, [address])
  const elsewhere = await call<string>('getnewaddress', '', 'bech32')
  const raw = await call<string>(
    'createrawtransaction',
    [{ txid: coin?.txid, vout: coin?.vout }],
    [{ [elsewhere]: 0.009 }],
  )
  const { hex } = await call<{ hex: string }>('signrawtransactionwithwallet', raw)
  await call('sendrawtransaction', hex)
  await node.mine(1)
  expect(await used([scriptPubKey])).toEqual(new Set())
})

// Guarantee: an isolated node never makes an address count as unused.
it('does not ask a node without peers, unless the chain is a local one', async () => {
  const genesis = (await node.rpc('getblockhash', [0])) as string
  await expect(used([`0014${hash()}`], genesis)).rejects.toThrow(/cannot show which addresses were never used/)
})

it('lets two callers wait for each other: a node scans for one at a time', async () => {
  const scripts = [`0014${hash()}`]
  const answers = await Promise.allSettled(Array.from({ length: 4 }, () => used(scripts)))
  for (const answer of answers) {
    if (answer.status === 'fulfilled') expect(answer.value).toEqual(new Set())
    else expect(answer.reason).toMatchObject({ name: 'NodeUnreliable' })
  }
  expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true)
})
