import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const NOBODY: ReadonlySet<string> = new Set()
const scripts = Array.from({ length: 4 }, () => `0014${randomBytes(20).toString('hex')}`)
const watches = createWatchIndex()
for (const script of scripts) watches.add(script)

/** More than the deepest reorganisation below the height at which the test begins. */
const MARGIN = 6

let node: LitecoinNode
let client: OpenChainClient
let start: number
beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null })
  const made = createChainClient(
    { live: {}, test: { bitcoin: { rpcUrls: [node.url], genesis: 'any' } } },
    'test',
    'bitcoin',
    silent,
  )
  if (made === null) throw new Error('no client')
  client = made
  start = (await client.head()).height - MARGIN
})
afterAll(async () => {
  await client.close()
  await node.stop()
})

/** Scans on from what is known, after dropping what the node no longer has. */
async function follow(known: readonly ScannedBlock[], step: number): Promise<readonly ScannedBlock[]> {
  const blocks = [...known]
  for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
    if ((await client.blockAt(last.height))?.hash === last.hash) break
    blocks.pop()
  }
  const { height } = await client.head()
  for (let from = start + blocks.length; from <= height; from = start + blocks.length) {
    blocks.push(...(await client.scan(from, Math.min(height, from + step - 1), watches)))
  }
  return blocks
}

const outcome = (blocks: readonly ScannedBlock[]) =>
  blocks.flatMap(({ height, hash, transfers }) =>
    transfers.map(({ key, amountBase }) => `${height} ${hash} ${key} ${amountBase}`),
  )

const action = fc.oneof(
  fc.record({
    kind: fc.constant('pay' as const),
    to: fc.array(fc.constantFrom(...scripts), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('replace' as const) }),
)

/** Each replacement pays four times the fee of the last. */
const REPLACED_AGAIN_AND_AGAIN = [
  { kind: 'pay' as const, to: scripts.slice(0, 3) },
  ...Array.from({ length: 5 }, () => ({ kind: 'replace' as const })),
]

// Guarantee: whatever happened to the chain meanwhile, following it finds what a scan from scratch finds, and the mempool the rest.
it('following payments, replacements and reorganisations ends where a scan from scratch ends', async () => {
  let known: readonly ScannedBlock[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 9 }),
      async (actions, step) => {
        for (const one of actions) {
          if (one.kind === 'pay')
            await node.pay(one.to.map((to, index) => ({ to, amountBase: 1_000_000n + BigInt(index) })))
          if (one.kind === 'mine') await node.mine(one.blocks)
          if (one.kind === 'reorg') {
            await node.invalidate(one.depth)
            await node.mine(one.depth + 1, `0014${randomBytes(20).toString('hex')}`)
          }
          if (one.kind === 'replace') await replaceNewest()
          known = await follow(known, step)
        }
        const { height } = await client.head()
        const scratch = await client.scan(start, height, watches)
        expect(outcome(known)).toEqual(outcome(scratch))
        const unconfirmed = (await client.mempool?.(watches, NOBODY))?.transfers ?? []
        const received = [...scratch.flatMap(({ transfers }) => transfers), ...unconfirmed]
        expect(new Set(received.map(({ key }) => key)).size).toBe(received.length)
        expect(received.reduce((sum, { amountBase }) => sum + amountBase, 0n)).toBe(await ownSum())
      },
    ),
    { numRuns: 10, endOnFailure: true, examples: [[REPLACED_AGAIN_AND_AGAIN, 9]] },
  )
})

/** What a wallet pays in fees for one transaction at most is 0.1 LTC, and a replacement pays four times as much as the last. */
const FEE_MAX = 0.02

/** Replaces an unconfirmed transaction that no other one spends; one that was replaced pays nobody. */
async function replaceNewest(): Promise<void> {
  const entries = (await node.rpc('getrawmempool', [true])) as Record<
    string,
    { descendantcount: number; fees: { modified: number } }
  >
  const [txid] =
    Object.entries(entries).find(([, { descendantcount, fees }]) => descendantcount === 1 && fees.modified < FEE_MAX) ??
    []
  if (txid !== undefined)
    await node.replace(txid, [{ to: `0014${randomBytes(20).toString('hex')}`, amountBase: 1_000_000n }])
}

/** What the node's own set of unspent outputs, with the mempool on top, says about our scripts: nobody can spend them. */
async function ownSum(): Promise<bigint> {
  const confirmed = (await node.rpc('scantxoutset', ['start', scripts.map((script) => `raw(${script})`)])) as {
    readonly total_amount: number
  }
  const unconfirmed = (await node.rpc('getrawmempool')) as readonly string[]
  let sum = toBase(confirmed.total_amount)
  for (const txid of unconfirmed) {
    const { vout } = (await node.rpc('getrawtransaction', [txid, true])) as {
      readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly hex: string } }[]
    }
    for (const { value, scriptPubKey } of vout) if (scripts.includes(scriptPubKey.hex)) sum += toBase(value)
  }
  return sum
}

const toBase = (value: number) => BigInt(value.toFixed(8).replace('.', ''))
