import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { beforeAll, expect, it } from 'vitest'
import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import { RATE_SNAPSHOTS } from '#shared/db/rates/rate-model.ts'
import type { FundsReading } from '#shared/ports/funds.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { createQuoteOffers } from '#shared/usecases/quotes/addresses.ts'
import { adminCaller } from '#test/support/admin.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { freshChain } from '#test/support/worker-chain.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const stores = useStores()
let chain: LocalChain
beforeAll(async () => {
  chain = await freshChain()
})
let accounts = 700
const freshKey = () => {
  accounts += 1
  return HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', `m/44'/60'/${accounts}'`)
}
const addressOf = (key: HDNodeWallet, index: number) => key.deriveChild(0).deriveChild(index).address
const ON = { network: 'ethereum' } as const

async function shop(key: HDNodeWallet, options: Parameters<typeof adminCaller>[1] = {}) {
  const nodes = { test: { ethereum: { rpcUrls: [chain.url], chainId: 31_337, confirmations: 1 } } }
  const made = await adminCaller(stores, { ...options, env: { PAYMESH_NETWORKS: JSON.stringify(nodes) } })
  const value = key.neuter().extendedKey
  const input = { family: 'evm' as const, kind: 'xpub' as const, value, startIndex: 0, opId: randomUUID() }
  const { wallet } = await made.caller.wallets.add({ ...made.at, ...input })
  const { deps } = made
  // No node has indexed the addresses here.
  const offers = createQuoteOffers({ ...deps, ...deps.instance, catalog: { ...deps.catalog, hasNode: () => false } })
  return { ...made, walletId: wallet.id, offers }
}
let invoices = 0
/** Gives the workspace the key's next address, by an invoice that holds a claim on it. */
async function takeAddress({ deps, workspaceId, walletId, offers }: Awaited<ReturnType<typeof shop>>): Promise<string> {
  const wallet = await deps.instance.wallets.findWallet(walletId)
  const material = await deps.instance.wallets.findMaterial(wallet?.materialId ?? '')
  if (material === null) throw new Error('no material')
  const { address, matchKey } = await offers.take(material, deps.catalog.asset('usdt_ethereum'), 1n, workspaceId)
  const at = deps.clock.now()
  const paymentMethods = [samplePaymentMethod(matchKey, at)]
  invoices += 1
  const invoice = sampleInvoice(deps.random, { workspaceId, number: invoices, at, state: { paymentMethods } })
  expect(await deps.invoices.insert(invoice)).toEqual({ inserted: true })
  return address
}

it('shows what lies at the addresses of invoices, as the chain has it, with paths, values and costs', async () => {
  const key = freshKey()
  const mine = await shop(key)
  const [first, second] = [await takeAddress(mine), await takeAddress(mine)]
  expect(first).toBe(addressOf(key, 0))
  await chain.fund(first, 5_000_000_000_000_000n)
  await chain.pay({ asset: 'usdt_ethereum', to: second, amountBase: 12_500_000n })
  await chain.mine()
  const price = (usd: string) => ({ price: usd, sources: ['kraken', 'coinbase'], oldestAt: mine.deps.clock.now() })
  await mine.deps.rateSnapshots.insert({
    at: mine.deps.clock.now(),
    guards: {},
    expected: {},
    sources: {},
    clockOffsetMs: null,
    usdPerSymbol: { ETH: price('2000'), USDT: price('1') },
    fiatPerUsd: { USD: price('1') },
  })
  const page = await mine.caller.funds.page({ ...mine.at, ...ON, walletId: mine.walletId })
  expect(page).toMatchObject({ addresses: 2, next: null, fault: null })
  const at = (address: string, asset: string) =>
    page.lines.find((line) => line.address === address && line.asset === asset)
  expect(at(first, 'eth_ethereum')).toMatchObject({
    path: `${key.path}/0/0`,
    balance: '0.005',
    balanceFiat: '10.00',
    feeSymbol: 'ETH',
    currency: 'USD',
  })
  expect(at(second, 'usdt_ethereum')).toMatchObject({ path: `${key.path}/0/1`, balance: '12.5', balanceFiat: '12.50' })
  expect(Number(at(second, 'usdt_ethereum')?.topUp)).toBeGreaterThan(0)
  expect(Number(at(second, 'usdt_ethereum')?.fee)).toBeGreaterThan(Number(at(second, 'usdt_ethereum')?.topUp))
  expect(at(second, 'eth_ethereum')).toMatchObject({ balance: '0', fee: null })
  await stores.db.collection(RATE_SNAPSHOTS).deleteMany({})
})

// Guarantee: a key that several workspaces use shows each of them only the addresses of its own invoices.
it('shows no address of another workspace, whose wallet has the same key', async () => {
  const key = freshKey()
  const [mine, theirs] = [await shop(key), await shop(key, { email: 'other@example.com' })]
  const own = await takeAddress(mine)
  const foreign = await takeAddress(theirs)
  expect(foreign).not.toBe(own)
  const shown = async (who: typeof mine) => {
    const { lines } = await who.caller.funds.page({ ...who.at, ...ON, walletId: who.walletId })
    return [...new Set(lines.map(({ address }) => address))]
  }
  expect(await shown(mine)).toEqual([own])
  expect(await shown(theirs)).toEqual([foreign])
  const pending = mine.caller.funds.page({ ...mine.at, ...ON, walletId: theirs.walletId })
  await expect(pending).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

it('refuses a network that is not the wallet’s, and a place that is no place', async () => {
  const mine = await shop(freshKey())
  const { walletId } = mine
  const wrong = mine.caller.funds.page({ ...mine.at, walletId, network: 'tron' })
  await expect(wrong).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  const place = mine.caller.funds.page({ ...mine.at, ...ON, walletId, after: '{"$gt":""}' })
  await expect(place).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

const unclear: readonly [string, () => Promise<FundsReading>, string][] = [
  ['fails', () => Promise.reject(new NodeUnreliable('silence')), 'no_response'],
  ['is behind the scanner', async () => ({ height: 5, funds: new Map(), facts: [] }), 'behind'],
]
// Guarantee: a node without a clear answer never makes a balance 0.
it.each(sampleOf(unclear, 1))('everything is unknown while the node %s', async (_what, read, fault) => {
  const mine = await shop(freshKey(), {
    deps: ({ funds }) => ({
      funds: {
        ...funds,
        cursors: { ...funds.cursors, find: async () => ({ height: 900 }) as never },
        openClient: () => ({
          funds: { read, fees: () => Promise.reject(new Error('not asked')) },
          close: async () => {},
        }),
      } as never,
    }),
  })
  await takeAddress(mine)
  const page = await mine.caller.funds.page({ ...mine.at, ...ON, walletId: mine.walletId })
  expect(page.fault).toBe(fault)
  expect(page.lines.length).toBeGreaterThan(0)
  for (const line of page.lines) expect(line).toMatchObject({ balance: null, fee: null, balanceFiat: null })
})

// Guarantee: an operator who reloads a page, or many at a time, costs one reading.
it('reads nodes once for the same page, one reading at a time', async () => {
  let [running, most, readings] = [0, 0, 0]
  const read = async (): Promise<FundsReading> => {
    running += 1
    readings += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return { height: null, funds: new Map(), facts: [] }
  }
  const mine = await shop(freshKey(), {
    deps: ({ funds }) => ({
      funds: { ...funds, openClient: () => ({ funds: { read }, close: async () => {} }) } as never,
    }),
  })
  await takeAddress(mine)
  const request = (after: string | null) =>
    mine.caller.funds.page({ ...mine.at, ...ON, walletId: mine.walletId, after }).catch(() => null)
  await Promise.all(Array.from({ length: 12 }, () => request(null)))
  expect([readings, most]).toEqual([1, 1])
})

it('recommends fewer addresses only where moving costs more than a usual invoice brings, with the figures', async () => {
  const mine = await shop(freshKey())
  const price = (usd: string) => ({ price: usd, sources: ['kraken', 'coinbase'], oldestAt: mine.deps.clock.now() })
  const publish = (eth: string) =>
    mine.deps.rateSnapshots.insert({
      at: mine.deps.clock.now(),
      guards: {},
      expected: {},
      sources: {},
      clockOffsetMs: null,
      usdPerSymbol: { ETH: price(eth), USDT: price('1') },
      fiatPerUsd: { USD: price('1') },
    })
  for (let number = 1; number <= 5; number += 1) await takeAddress(mine)
  await publish('2000')
  const request = (who: typeof mine, kind: 'xpub' | 'pool') =>
    who.caller.funds.advice({ ...who.at, kind, networks: ['ethereum'] })
  const cheap = await request(mine, 'xpub')
  expect(cheap.recommendFewer).toBe(false)
  expect(cheap.usual).not.toBeNull()
  expect(Number(cheap.costs.find(({ asset }) => asset === 'usdt_ethereum')?.fee)).toBeGreaterThan(0)
  await stores.db.collection(RATE_SNAPSHOTS).deleteMany({})
  // The same gas at a price at which a plain transfer costs thousands.
  await publish('900000000')
  const again = await adminCaller(stores, {
    workspaceId: mine.workspaceId,
    env: {
      PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: { rpcUrls: [chain.url], chainId: 31_337 } } }),
    },
  })
  const dear = await again.caller.funds.advice({ ...again.at, kind: 'xpub', networks: ['ethereum'] })
  expect(dear.recommendFewer).toBe(true)
  expect(dear.costs.some(({ exceedsUsual, feeFiat }) => exceedsUsual && feeFiat !== null)).toBe(true)
  const pool = await again.caller.funds.advice({ ...again.at, kind: 'pool', networks: ['ethereum'] })
  expect(pool.recommendFewer).toBe(false)
  await stores.db.collection(RATE_SNAPSHOTS).deleteMany({})
  const blind = await shop(freshKey())
  await takeAddress(blind)
  expect(await request(blind, 'xpub')).toMatchObject({ usual: null, recommendFewer: false })
})
