import { describe, expect, it } from 'vitest'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import type { DayUsage } from '#shared/ports/node-usage.ts'
import type { Store } from '#shared/usecases/uses.ts'
import { standIn } from '#test/support/stand-in.ts'
import { createQuotaWatch, nodeCosts } from './node-costs.ts'

const NOW = Date.UTC(2026, 10, 11)
const HOUR_MS = 3_600_000
const URL_OF_ALCHEMY = 'https://eth-mainnet.g.alchemy.com/v2/key'

/** 1,000 calls of a day of November 2026, of 10 units each. */
const calls = (day: number, change: Partial<DayUsage> = {}): DayUsage => ({
  ...{ mode: 'live', network: 'ethereum', provider: 'alchemy', unit: 'alchemy', calls: 1_000, units: 10_000 },
  ...{ bytes: 100, day: Date.UTC(2026, 10, day), firstAt: Date.UTC(2026, 10, day), ...change },
})

function depsOf(rows: readonly DayUsage[], quota: { perMonth: number; unit: 'alchemy' | 'calls' } | null, now: number) {
  const ethereum = { rpcUrls: [URL_OF_ALCHEMY], quota }
  const since = async (day: number) => rows.filter((row) => row.day >= day)
  const nodePrices = createNodePrices({ live: { ethereum }, test: {} })
  return { clock: { now: () => now }, nodeUsage: standIn<Store['nodeUsage']>({ since }), nodePrices }
}

const costs = (rows: readonly DayUsage[], perMonth: number | null = null, now = NOW) =>
  nodeCosts(depsOf(rows, perMonth === null ? null : { perMonth, unit: 'alchemy' }, now))

describe('nodeCosts', () => {
  it('sums calls, units and bytes of today and of this month by provider', async () => {
    const own = calls(11, { provider: 'geth:8545', unit: 'calls', calls: 7, units: 7 })
    // The last day of October counts for the pace alone.
    const before = calls(1, { day: Date.UTC(2026, 9, 31), calls: 999 })
    const { providers } = await costs([calls(2), calls(11), own, before])
    expect(providers.map(({ provider, unit, today, month }) => ({ provider, unit, today, month }))).toEqual([
      {
        ...{ provider: 'alchemy', unit: 'alchemy' },
        today: { calls: 1_000, units: 10_000, bytes: 100 },
        month: { calls: 2_000, units: 20_000, bytes: 200 },
      },
      {
        ...{ provider: 'geth:8545', unit: 'calls' },
        today: { calls: 7, units: 7, bytes: 100 },
        month: { calls: 7, units: 7, bytes: 100 },
      },
    ])
  })

  it('estimates the month from the pace of the last seven days', async () => {
    // Ten days with 10,000 units each; the month has twenty more from the start of the eleventh.
    const rows = Array.from({ length: 10 }, (_, index) => calls(index + 1))
    const [provider] = (await costs(rows)).providers
    // Six of them lie within the seven days that end today.
    expect(provider?.monthEstimate).toBe(100_000 + Math.round((60_000 / 6) * 20))
  })

  it('estimates from the first counted call, and not within its first hour', async () => {
    const firstAt = NOW + 10 * HOUR_MS
    const rows = [calls(11, { firstAt })]
    expect((await costs(rows, null, firstAt + HOUR_MS - 1)).providers[0]?.monthEstimate).toBeNull()
    // 10,000 units in two hours, and 19.5 days to go.
    expect((await costs(rows, null, firstAt + 2 * HOUR_MS)).providers[0]?.monthEstimate).toBe(
      10_000 + 5_000 * (20 * 24 - 12),
    )
  })

  it.each([
    [12_501, 'ok'],
    [12_500, 'warning'],
    [10_527, 'warning'],
    [10_526, 'critical'],
    [5_000, 'critical'],
  ] as const)('calls 10,000 of %i units %s', async (perMonth, level) => {
    const { quotas } = await costs([calls(11), calls(11, { provider: 'geth:8545' })], perMonth)
    expect(quotas).toMatchObject([{ mode: 'live', network: 'ethereum', unit: 'alchemy', used: 10_000, level }])
  })

  // Guarantee: a change of what a quota is counted in loses nothing of the month.
  it('counts rows of another unit by their calls', async () => {
    const rows = [calls(10, { unit: 'calls', units: 1_000 }), calls(11)]
    // A method that is not listed costs 20.
    expect((await costs(rows, 100_000)).quotas).toMatchObject([{ used: 30_000 }])
    const { quotas } = await nodeCosts(depsOf(rows, { perMonth: 100_000, unit: 'calls' }, NOW))
    expect(quotas).toMatchObject([{ used: 2_000 }])
  })

  it('shows a quota before the first call', async () => {
    expect((await costs([], 100)).quotas).toMatchObject([{ used: 0, usedShare: 0, monthEstimate: 0, level: 'ok' }])
    expect((await costs([])).quotas).toEqual([])
  })
})

it('says in a sentence how much is used, and nothing before four fifths', async () => {
  const said = async (perMonth: number) => (await costs([calls(10)], perMonth)).quotas[0]?.sentence
  expect(await said(100_000)).toBeNull()
  expect(await said(12_000)).toBe(
    '83 % of this month’s 12,000 Alchemy compute units are used; at the present pace the month takes 1750 %. Plan for another node or a larger plan before the month ends.',
  )
  expect(await said(10_000)).toContain('100 % of this month’s 10,000 Alchemy compute units are used')
  expect(await said(10_000)).toContain('Scanning continues until the provider refuses')
})

// Guarantee: a pace is slowed down by what was counted, never by a guess.
it('watches a quota: nearly used from 95 percent on, not without one, and not while the rows cannot be read', async () => {
  const watch = (perMonth: number | null, change: object = {}) => {
    const quota = perMonth === null ? null : { perMonth, unit: 'alchemy' as const }
    return createQuotaWatch({ ...depsOf([calls(10)], quota, NOW), ...change }, 'live', 'ethereum')()
  }
  expect(await watch(10_500)).toBe(true)
  expect(await watch(10_600)).toBe(false)
  expect(await watch(null)).toBe(false)
  const since = () => Promise.reject(new Error('the primary does not respond'))
  expect(await watch(10_500, { nodeUsage: standIn<Store['nodeUsage']>({ since }) })).toBe(false)
})
