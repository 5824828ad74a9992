import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createRepositories, type Repositories } from '#shared/db/create-repositories.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { ADDRESSES, WATCH_PACKS } from '#shared/db/wallets/wallet-models.ts'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { hydrateWatches } from '#shared/usecases/watches/watch-feed.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { deepDescribe, deepTest, sampleOf } from '#test/support/depth.ts'
import { emptyDatabase } from '#test/support/empty-database.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { createColdWatches, createHotWatches } from './cold-watches.ts'
import { type PackWatchesDeps, packWatches } from './pack-watches.ts'

const DAY_MS = 86_400_000
const SCOPE = { mode: 'test', family: 'evm', network: 'ethereum' } as const
const stores = useStores()
let on: Repositories
let numbers = 0

beforeEach(async () => {
  await emptyDatabase(stores.db)
  on = createRepositories(stores.db, stores.runtime)
})

/** The job some days from now. */
const deps = (days = 3, change: Partial<PackWatchesDeps> = {}): PackWatchesDeps => ({
  ...{ wallets: on.wallets, watchPacks: on.watchPacks, invoices: on.invoices, random: stores.runtime.random },
  clock: { now: () => Date.now() + days * DAY_MS },
  ...change,
})

const pack = (days?: number, change?: Partial<PackWatchesDeps>) => packWatches(deps(days, change), new Map())

/** Derived addresses, each held by an invoice of a status, or by none. */
async function issue(count: number, status: InvoiceStatus | null = 'expired'): Promise<readonly string[]> {
  const first = numbers
  numbers += count
  const keys = Array.from({ length: count }, () => randomBytes(20).toString('hex'))
  const rows = keys.map((matchKey, offset) => {
    const place = { mode: 'test', family: 'evm', materialId: 'm', index: first + offset } as const
    return { ...place, matchKey, address: `0x${matchKey}`, watchedOn: ['ethereum'] as const }
  })
  await on.wallets.addDerived('m', rows, numbers)
  if (status === null) return keys
  const at = Date.now()
  for (const [offset, matchKey] of keys.entries()) {
    const state = {
      status,
      paymentMethods: [samplePaymentMethod(matchKey, at)],
      expiresAt: at + 1_200_000,
      nextActionAt: null,
    }
    await on.invoices.insert(sampleInvoice(stores.runtime.random, { number: first + offset + 1, at, state }))
  }
  return keys
}

/** An index as a scanner that starts now has it. */
async function startIndex(change: Partial<Repositories> = {}, metrics: Metrics = stores.runtime.metrics) {
  const repositories = { ...on, ...change }
  const index = createHotWatches(createWatchIndex, createColdWatches(repositories, 'test', 'evm'))
  await hydrateWatches({ ...stores.runtime, metrics, wallets: repositories.wallets }, SCOPE, index)
  return index
}

/** Those of these keys that a scanner that starts now would not see money on. */
async function unseen(keys: readonly string[]): Promise<readonly string[]> {
  const index = await startIndex()
  const ours = await index.among?.(keys.filter((key) => index.has(key)))
  return keys.filter((key) => ours?.has(key) !== true)
}

const hot = async () => (await on.wallets.hotWatchPage('test', 'evm', null, 100_000)).map(({ matchKey }) => matchKey)

describe('packing watches', () => {
  it('moves addresses whose late-watch time is over, and no others', async () => {
    const over = await issue(3)
    const paid = await issue(2, 'paid')
    const waiting = await issue(2, 'confirming')
    const offered = await issue(2, null)
    await on.wallets.addListed('pool:evm', [
      { mode: 'test', family: 'evm', matchKey: 'aa', address: '0xaa', materialId: 'pool:evm' },
    ])
    expect(await pack(0.5)).toBe(0)
    expect(await pack()).toBe(5)
    expect((await hot()).sort()).toEqual([...waiting, ...offered, 'aa'].sort())
    expect(await unseen([...over, ...paid, ...waiting, ...offered, 'aa'])).toEqual([])
    expect(await pack()).toBe(0)
    expect((await startIndex()).size).toBe(5)
  })

  it('keeps the place where it stopped', async () => {
    const keys = await issue(5)
    const places = new Map<string, string>()
    let requests = 0
    expect(await packWatches(deps(), places, () => ++requests > 0)).toBe(0)
    expect(await packWatches(deps(), places)).toBe(5)
    expect([places.size, await unseen(keys)]).toEqual([0, []])
  })

  it('begins a new pack when one is full', async () => {
    const [first = ''] = await issue(1)
    await pack()
    const only = await on.watchPacks.read('test', 'evm', 0)
    if (only === null) throw new Error('no pack')
    const hashes = randomBytes(65_535 * 8)
    hashes.set(only.hashes)
    await on.watchPacks.put('test', 'evm', { ...only, count: 65_535, hashes }, 1)
    const more = await issue(3)
    expect(await pack()).toBe(3)
    expect(await on.watchPacks.heads('test', 'evm', 0)).toEqual([
      { seq: 0, count: 65_536 },
      { seq: 1, count: 2 },
    ])
    expect(await unseen([first, ...more])).toEqual([])
    expect(await on.watchPacks.put('test', 'evm', { ...only, count: 2 }, 1)).toBe(false)
  })
})

/** Where the job may die: before or after a write took effect. */
const DEATHS = ['before the pack', 'after the pack', 'before the marks', 'after the marks'] as const

describe('a job that dies', () => {
  // Guarantee: at no moment is an address in neither place, and the next run ends what was begun.
  it.each(DEATHS)('%s leaves every address findable', async (death) => {
    const keys = await issue(4)
    const dying = async <T>(part: 'pack' | 'marks', write: () => Promise<T>): Promise<T> => {
      if (death === `before the ${part}`) throw new Error('killed')
      const result = await write()
      if (death === `after the ${part}`) throw new Error('killed')
      return result
    }
    const { wallets, watchPacks } = on
    const change: Partial<PackWatchesDeps> = {
      watchPacks: { ...watchPacks, put: (...args) => dying('pack', () => watchPacks.put(...args)) },
      wallets: { ...wallets, markPacked: (...args) => dying('marks', () => wallets.markPacked(...args)) },
    }
    await expect(pack(3, change)).rejects.toThrow('killed')
    expect(await unseen(keys)).toEqual([])
    expect(await pack()).toBe(death === 'after the marks' ? 0 : 4)
    expect([await unseen(keys), await hot()]).toEqual([[], []])
  })

  it('would lose addresses if it marked them before the pack is stored: the check sees that', async () => {
    const keys = await issue(2)
    await on.wallets.markPacked('test', 'evm', keys, 5)
    expect(await unseen(keys)).toEqual(keys)
  })
})

describe('several processes', () => {
  // Guarantee: two maintenance processes that pack at once lose no address.
  deepTest('that pack at the same time lose no address', async () => {
    const keys = await issue(300)
    const jobs = await Promise.all(Array.from({ length: 4 }, () => pack()))
    expect(Math.max(...jobs)).toBe(300)
    expect([await unseen(keys), await hot()]).toEqual([[], []])
  })

  it('that store to one pack from the same state: one succeeds, the other reads again', async () => {
    const keys = await issue(2)
    await pack()
    const last = await on.watchPacks.last('test', 'evm')
    if (last === null) throw new Error('no pack')
    const more = { ...last, count: 3, hashes: Uint8Array.from([...last.hashes, ...randomBytes(8)]) }
    const done = await Promise.all([
      on.watchPacks.put('test', 'evm', more, 2),
      on.watchPacks.put('test', 'evm', more, 2),
    ])
    expect(done.sort()).toEqual([false, true])
    expect(await unseen(keys)).toEqual([])
  })

  // Guarantee: an address that moves while a scanner starts is in what the scanner reads first, or in what it reads next.
  it.each(sampleOf(['before', 'after'] as const, 1))(
    'a scanner that starts while addresses move, %s it read the hot ones, has them all',
    async (when) => {
      const keys = await issue(20)
      const wallets: Repositories['wallets'] = {
        ...on.wallets,
        hotWatchKeys: async (...args) => {
          if (when === 'before') await pack()
          const page = await on.wallets.hotWatchKeys(...args)
          if (when === 'after') await pack()
          return page
        },
      }
      const index = await startIndex({ wallets })
      expect(keys.filter((key) => !index.has(key))).toEqual([])
      expect(index.size).toBe(when === 'before' ? 0 : 20)
    },
  )

  it('a version without packs reads every address', async () => {
    const keys = await issue(3)
    await pack()
    const index = createWatchIndex()
    await hydrateWatches({ ...stores.runtime, wallets: on.wallets }, SCOPE, index)
    expect(keys.filter((key) => !index.has(key))).toEqual([])
  })
})

deepDescribe('a running scanner', () => {
  it('drops packed addresses from memory and still knows them', async () => {
    const cold = createColdWatches(on, 'test', 'evm')
    const index = createHotWatches(createWatchIndex, cold)
    const keys = Array.from({ length: 6_000 }, () => randomBytes(20).toString('hex'))
    const rows = keys.map((matchKey, at) => {
      const place = { mode: 'test', family: 'evm', materialId: 'm', index: at } as const
      return { ...place, matchKey, address: `0x${matchKey}`, watchedOn: [] }
    })
    await on.wallets.addDerived('m', rows, keys.length)
    await hydrateWatches({ ...stores.runtime, wallets: on.wallets }, SCOPE, index)
    const claimsCold: PackWatchesDeps['invoices']['claimsCold'] = async (claims) => new Set(claims)
    expect(await pack(0, { invoices: standIn({ claimsCold }) })).toBe(6_000)
    expect([index.size, await cold.refresh()]).toEqual([6_000, 'whole'])
    index.shrink?.()
    expect([index.size, cold.size]).toEqual([0, 6_000])
    expect(keys.filter((key) => !index.has(key))).toEqual([])
    const all: string[] = []
    for await (const key of index.keys()) all.push(key)
    expect(all.sort()).toEqual([...keys].sort())
  })
})

const DAMAGES: Readonly<Record<string, () => Promise<unknown>>> = {
  'a lost pack': () => stores.db.collection(WATCH_PACKS).deleteOne({ seq: 0 }),
  'a lost collection': () => stores.db.collection(WATCH_PACKS).deleteMany({}),
  'lost bytes': () => stores.db.collection(WATCH_PACKS).updateOne({}, [{ $set: { count: { $add: ['$count', 1] } } }]),
}

describe('damaged packs', () => {
  // Guarantee: where packs are lost, a scanner holds every address in memory instead of missing money.
  it.each(Object.keys(DAMAGES))('%s: every address is held in memory, and nothing more is packed', async (damage) => {
    const keys = await issue(4)
    await pack()
    await DAMAGES[damage]?.()
    expect((await startIndex()).size).toBe(4)
    expect(await unseen(keys)).toEqual([])
    const more = await issue(1)
    await expect(pack()).rejects.toThrow('damaged')
    expect(await unseen([...keys, ...more])).toEqual([])
    expect(await stores.db.collection(ADDRESSES).countDocuments({ packed: { $exists: true } })).toBe(4)
  })

  // The steps of the runbook, in its order.
  it.each(sampleOf(Object.keys(DAMAGES), 1))(
    '%s: it is reported until an operator has them packed again',
    async (damage) => {
      const damaged = async () =>
        /scanner_watch_packs_damaged\{.*network="ethereum".*\} (\d)/.exec(await metrics.render())?.[1]
      const metrics = createMetrics({ defaults: false })
      const start = () => startIndex({}, metrics)
      const keys = await issue(4)
      await pack()
      await start()
      expect(await damaged()).toBe('0')
      await DAMAGES[damage]?.()
      await start()
      expect(await damaged()).toBe('1')
      await stores.db.collection(ADDRESSES).updateMany({ packed: { $exists: true } }, { $unset: { packed: '' } })
      await stores.db.collection(WATCH_PACKS).drop()
      await stores.db.collection(INSTALLATION).deleteMany({ _id: /^watch-packs:/ })
      expect((await start()).size).toBe(4)
      expect(await damaged()).toBe('0')
      expect(await pack()).toBe(4)
      expect((await start()).size).toBe(0)
      expect(await unseen(keys)).toEqual([])
      await migrate(stores.db)
    },
  )
})
