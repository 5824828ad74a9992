import { expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { sourceWatches, type VisitorWatchesDeps, visitorWatches } from './visitor-budget.ts'

const MINUTE = 60_000
const USUAL = { quoteMs: 20 * MINUTE }
/** Slots of 20 minutes in 30 days. */
const SLOTS = 2_160

function installed(node: Partial<NodeSettings>): VisitorWatchesDeps {
  const settings = {
    rpcUrls: ['https://eth-mainnet.g.alchemy.com/v2/key'],
    chainId: 1,
    confirmations: 3,
    contracts: {},
  }
  const networks = { live: { ethereum: { ...settings, ...node } }, test: {} }
  return { catalog: createCatalog(networks), nodePrices: createNodePrices(networks) }
}

const watches = (node: Partial<NodeSettings>, policy = USUAL) =>
  visitorWatches(installed(node), 'live', 'ethereum', policy)

it.each([
  ['a free plan of 30 million units', 30_000_000, 10],
  ['ten times that', 300_000_000, 106],
  ['the part of one network of five', 6_000_000, 2],
  ['next to nothing', 1, 2],
] as const)('has as many places as half of %s bears', (_, perMonth, places) => {
  expect(watches({ quota: { perMonth, unit: 'alchemy' } })).toBe(places)
})

// Guarantee: opened again whenever one ends, for a month, they leave the other half of the quota to the merchant's own invoices.
it.each([5, 7, 20, 60, 200])('uses no more than half of any quota with quotes of %i minutes', (minutes) => {
  const opened = (SLOTS * 20) / minutes
  for (let perMonth = 3_000_000; perMonth < 4_000_000_000; perMonth = Math.ceil(perMonth * 1.7)) {
    const places = watches({ quota: { perMonth, unit: 'alchemy' } }, { quoteMs: minutes * MINUTE })
    // Two is the least.
    if (places > 2) expect(places * opened * 25 * 26).toBeLessThanOrEqual(perMonth / 2)
  }
})

it.each([
  [5, 25],
  [20, 100],
  [60, 300],
  [1_440, 1_000],
] as const)('has with quotes of %i minutes %i places, so that each is opened as often', (minutes, places) => {
  expect(watches({}, { quoteMs: minutes * MINUTE })).toBe(places)
})

it('counts calls where the quota does', () => {
  expect(watches({ quota: { perMonth: 2 * 25 * SLOTS * 7, unit: 'calls' } })).toBe(7)
})

it('has a fixed number without a quota, and where every block is read whoever waits', () => {
  expect(watches({})).toBe(100)
  expect(watches({ source: 'full', quota: { perMonth: 6_000_000, unit: 'alchemy' } })).toBe(100)
})

it('gives one connection a tenth, and one at least', () => {
  expect([2, 9, 10, 25, 100, 106].map(sourceWatches)).toEqual([1, 1, 1, 2, 10, 10])
})
