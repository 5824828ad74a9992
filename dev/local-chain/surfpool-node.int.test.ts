import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { matchKeyOf } from '#shared/chains/families/solana/extract.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { type SurfpoolNode, startSurfpoolNode } from './surfpool-node.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const PATIENCE = { timeout: 20_000, interval: 50 }

let node: SurfpoolNode
let client: OpenChainClient
beforeAll(async () => {
  node = await startSurfpoolNode({ slotTimeMs: 50 })
  client = clientOf(node.url)
})
afterAll(async () => {
  await client.close()
  await node.stop()
})

function clientOf(url: string): OpenChainClient {
  const networks = { live: {}, test: { solana: { rpcUrls: [url], genesis: 'any' } } }
  const made = createChainClient(networks, 'test', 'solana', silent)
  if (made === null) throw new Error('no client')
  return made
}

const someone = () => Keypair.generate().publicKey.toBase58()

/** Scans on from a block until the transfers to an owner are there. */
async function scanFor(
  owner: string,
  count: number,
  from: number,
): Promise<{ block: ScannedBlock; transfer: RawTransfer }[]> {
  const watches = createWatchIndex()
  watches.add(matchKeyOf(owner))
  const found: { block: ScannedBlock; transfer: RawTransfer }[] = []
  let next = from
  await vi.waitFor(async () => {
    const { height } = await client.head()
    if (height < next) throw new Error('no new block')
    for (const block of await client.scan(next, Math.min(height, next + 49), watches)) {
      found.push(...block.transfers.map((transfer) => ({ block, transfer })))
      next = block.height + 1
    }
    expect(found).toHaveLength(count)
  }, PATIENCE)
  return found
}

describe('a Surfpool node', () => {
  it('is accepted: its mints are those of the registry, and our minimum is above the rent of a new account', async () => {
    await client.verify()
    const rent = BigInt(String(await node.rpc('getMinimumBalanceForRentExemption', [0])))
    // Guarantee: no invoice asks for an amount that the chain refuses to move to a new account.
    expect(createCatalog({ live: {}, test: {} }).asset('sol_solana').minBase).toBeGreaterThan(rent)
  })

  it('carries payments of all assets that a scan finds, and finalizes them later', async () => {
    const owner = someone()
    const reference = someone()
    const { height: from } = await client.head()
    const sent = [
      await node.pay({ asset: 'sol_solana', to: owner, amountBase: 5_000_000n, references: [reference] }),
      await node.pay({ asset: 'usdc_solana', to: owner, amountBase: 1_500_000n, references: [reference] }),
      await node.pay({ asset: 'usdt_solana', to: owner, amountBase: 7n }),
      await node.pay({ asset: 'usdt_solana', to: owner, amountBase: 7n }),
    ]
    const found = await scanFor(owner, 4, from)
    expect(
      found.map(({ transfer }) => [transfer.txHash, transfer.asset, transfer.contract, transfer.amountBase]),
    ).toEqual([
      [sent[0]?.txHash, 'sol_solana', null, 5_000_000n],
      [sent[1]?.txHash, 'usdc_solana', ASSETS.usdc_solana.contract, 1_500_000n],
      [sent[2]?.txHash, 'usdt_solana', ASSETS.usdt_solana.contract, 7n],
      [sent[3]?.txHash, 'usdt_solana', ASSETS.usdt_solana.contract, 7n],
    ])
    for (const { block, transfer } of found) {
      expect(transfer.toAddress).toBe(owner)
      expect(Math.abs(block.time - Date.now())).toBeLessThan(60_000)
    }
    for (const { transfer } of found.slice(0, 2)) expect(transfer.references).toContain(matchKeyOf(reference))
    // A slow machine may need longer for all of this than a slot needs to be final.
    const height = await vi.waitFor(async () => {
      const to = someone()
      const { height: since } = await client.head()
      await node.pay({ asset: 'usdt_solana', to, amountBase: 7n })
      const [fresh] = await scanFor(to, 1, since)
      const paidAt = fresh?.block.height ?? 0
      expect((await client.head()).finalizedHeight).toBeLessThan(paidAt)
      return paidAt
    }, PATIENCE)
    await vi.waitFor(async () => expect((await client.head()).finalizedHeight).toBeGreaterThanOrEqual(height), PATIENCE)
  })

  it('gives one chain of hashes, whatever ranges it is read in, from its first block on', async () => {
    const { height } = await client.head()
    const watches = createWatchIndex()
    const all = [...(await client.scan(1, 40, watches)), ...(await client.scan(41, height, watches))]
    expect(all[0]?.parentHash).toBe(await client.genesisHash())
    for (const [index, block] of all.slice(1).entries()) expect(block.parentHash).toBe(all[index]?.hash)
    expect(await client.blockAt(height)).toMatchObject({ hash: all.at(-1)?.hash, parentHash: all.at(-1)?.parentHash })
    expect(new Set(all.map(({ hash }) => hash)).size).toBe(all.length)
  })

  it('refuses coins that would leave a new account below its rent', async () => {
    await expect(node.pay({ asset: 'sol_solana', to: someone(), amountBase: 10n })).rejects.toThrow(/rent/)
  })

  it('is another chain after a restart, and gone after a stop', async () => {
    const other = await startSurfpoolNode({ slotTimeMs: 50 })
    const reader = clientOf(other.url)
    expect(await reader.genesisHash()).not.toBe(await client.genesisHash())
    await reader.close()
    await other.stop()
    await expect(other.rpc('getSlot')).rejects.toThrow()
  })
})
