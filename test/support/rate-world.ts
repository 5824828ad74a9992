import { afterAll, beforeAll } from 'vitest'
import {
  type ExchangeSimulator,
  type SimulatedSource,
  startExchangeSimulator,
} from '#dev/exchange-simulator/simulator.ts'
import { createJumpConfirmation } from '#services/rates/jump-confirmation.ts'
import { createRateCycle, type RateCycle } from '#services/rates/rate-cycle.ts'
import { createRateSources } from '#services/rates/rate-sources.ts'
import { LEASES } from '#shared/db/installation/lease-model.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { RATE_SNAPSHOTS } from '#shared/db/rates/rate-model.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import type { AssetId, FiatCode } from '#shared/domain/enumerations.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { AssetRate, RateReader } from '#shared/ports/rates.ts'
import { createHttpGet, type HttpGet } from '#shared/runtime/http/http-get.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { standIn } from '#test/support/stand-in.ts'
import type { TestStores } from './stores.ts'

/** The rates service on the exchange simulator, with a reader of what it publishes. */
export interface RateWorld {
  /** Moves the one clock of service, simulator and reader. */
  later(ms: number): void
  readonly simulator: ExchangeSimulator
  readonly cycle: RateCycle
  readonly reader: RateReader
  usdOf(asset: AssetId): Promise<number>
  /** The rate, or null where there is none. */
  rateOf(asset: AssetId, fiat?: FiatCode, arsSeries?: 'crypto' | 'official'): Promise<AssetRate | null>
  /** Counters so far, as `name label label`. */
  readonly counted: readonly string[]
}

/** A story that is told on its own world. */
export type RateStory = (tell: (world: RateWorld) => Promise<void>, options?: RateWorldOptions) => () => Promise<void>

/** What differs from a world in which every source is a simulated one and may take as long as a busy machine needs. */
export interface RateWorldOptions {
  readonly sourceUrls?: Partial<Readonly<Record<SimulatedSource, string>>>
  /** When a source that does not answer counts as failed; stories of such a source set it. Default 20,000. */
  readonly timeoutMs?: number
}

const PATIENCE_MS = 20_000

/** Worlds for the stories of one test file; each frees its lease for the next one. */
export function useRateWorlds(stores: TestStores): RateStory {
  const closing: (() => Promise<unknown>)[] = []
  let http: HttpGet | undefined
  // Worlds follow one another two days apart, so that each one's newest snapshot is its own.
  let today = Date.UTC(2026, 10, 20, 12)
  beforeAll(() => {
    http = createHttpGet({ userAgent: 'Paymesh-Test/1.0' })
  })
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()))
    await http?.close()
  })

  return (tell, options = {}) =>
    async () => {
      if (http === undefined) throw new Error('stories are told inside tests only')
      today += 2 * 86_400_000
      const clock = { at: today, now: () => clock.at }
      const simulator = await startExchangeSimulator({ port: 0, now: clock.now })
      // What the guards remember of the last world must not check this one.
      await stores.db.collection(RATE_SNAPSHOTS).deleteMany({})
      // Nor has it spent anything of this one's second opinions.
      await stores.db.collection(LEASES).deleteMany({})
      closing.push(() => simulator.stop())
      const world = openWorld(stores, http, simulator, clock, options)
      try {
        await tell(world)
      } finally {
        await world.cycle.stop()
      }
    }
}

function openWorld(
  stores: TestStores,
  http: HttpGet,
  simulator: ExchangeSimulator,
  clock: { at: number; now(): number },
  { sourceUrls: given, timeoutMs = PATIENCE_MS }: RateWorldOptions,
): RateWorld {
  const sourceUrls = { ...simulator.sourceUrls, ...given }
  const counted: string[] = []
  const metrics = {
    ...stores.runtime.metrics,
    count: (name: string, labels: Readonly<Record<string, string>> = {}) =>
      void counted.push([name, ...Object.values(labels)].join(' ')),
  }
  const runtime = { ...stores.runtime, clock, metrics }
  const rates = createRateRepository(stores.db)
  const leases = createLeaseRepository(stores.db)
  const catalog = { asset: (id: string) => ({ symbol: id.slice(0, id.indexOf('_')).toUpperCase() }) as AssetInfo }
  const reader = createRateReader({ rates, clock, catalog: standIn(catalog) })
  return {
    later: (ms) => {
      clock.at += ms
    },
    simulator,
    cycle: createRateCycle({
      ...runtime,
      rates,
      leases,
      sources: createRateSources({ ...runtime, http, sourceUrls, timeoutMs, pause: async () => undefined }),
      jumpConfirmation: createJumpConfirmation({
        ...{ ...runtime, http, rates, leases },
        baseUrl: simulator.sourceUrls['coin-paprika'],
      }),
    }),
    reader,
    usdOf: async (asset) => Number((await reader.rateFor({ asset, fiat: 'USD', arsSeries: 'crypto' })).fiatPerAsset),
    rateOf: (asset, fiat = 'USD', arsSeries = 'crypto') =>
      reader.rateFor({ asset, fiat, arsSeries }).catch((error: { code?: string }) => {
        if (error.code === 'RATES_UNAVAILABLE') return null
        throw error
      }),
    counted,
  }
}
