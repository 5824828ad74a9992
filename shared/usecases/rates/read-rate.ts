import { type MissingBecause, type MissingLeg, RatesUnavailable } from '#shared/contracts/rates/rates-unavailable.ts'
import type { RateRepository } from '#shared/db/rates/rate-repository.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatDecimal, multiply, parseDecimal } from '#shared/domain/money/money.ts'
import { isOffPeg, waitingJump } from '#shared/domain/rates/guard.ts'
import { fiatCrossRate } from '#shared/domain/reports/reporting-value.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ArsSeries, AssetRate, FiatSeries, RateReader, RateRequest, RateSnapshot } from '#shared/ports/rates.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { newestSnapshot } from './newest-snapshot.ts'

/** A rate older than this is never used, milliseconds; counted from its oldest crypto quote. */
export const RATE_MAX_AGE_MS = 120_000

/** How long one process serves a cached snapshot before it reads the store again, milliseconds. */
const CACHE_MS = 1000

/** Dependencies of {@link createRateReader}. */
export type RateReaderDeps = Pick<Runtime, 'clock'> & {
  readonly catalog: Pick<Catalog, 'asset'>
  readonly rates: Pick<RateRepository, 'latest' | 'latestBefore'>
}

/** Builds a reader that shares one snapshot for at most a second and loads it once for all concurrent requests. */
export function createRateReader(deps: RateReaderDeps): RateReader {
  const latest = createSnapshotCache(deps)

  async function rateFor(request: RateRequest): Promise<AssetRate> {
    const snapshot = await latest()
    const now = deps.clock.now()
    const legs = snapshot === null ? null : legsOf(snapshot, request, deps.catalog)
    if (snapshot === null || legs === null) throw missingOf(deps, snapshot, request, now)
    const observedAt = Math.min(snapshot.at, legs.crypto.oldestAt)
    const expiresAt = observedAt + RATE_MAX_AGE_MS
    if (now >= expiresAt) throw missingOf(deps, snapshot, request, now)
    return {
      asset: request.asset,
      fiat: request.fiat,
      fiatPerAsset: crossPrice(legs),
      fiatPerUsd: legs.fx.price,
      snapshotAt: snapshot.at,
      observedAt,
      expiresAt,
      sources: legs.crypto.sources,
      fxSources: legs.fx.sources,
    }
  }

  const rateAt: RateReader['rateAt'] = async (request) => {
    const snapshot = await deps.rates.latestBefore(request.at, RATE_MAX_AGE_MS)
    const legs = snapshot === null ? null : legsOf(snapshot, request, deps.catalog)
    if (snapshot === null || legs === null) return null
    const { crypto, fx } = legs
    const { decimals } = deps.catalog.asset(request.asset)
    return { fiatPerAsset: crossPrice(legs), decimals, at: snapshot.at, sources: crypto.sources, fxSources: fx.sources }
  }

  const fiatRate: RateReader['fiatRate'] = async ({ from, to, arsSeries }) => {
    const snapshot = await latest()
    if (snapshot === null || deps.clock.now() >= snapshot.at + RATE_MAX_AGE_MS) return null
    const [first, second] = [from, to].map((fiat) => snapshot.fiatPerUsd[seriesOf(fiat, arsSeries)])
    if (first === undefined || second === undefined) return null
    return { rate: fiatCrossRate(first.price, second.price), snapshotAt: snapshot.at }
  }

  return { rateFor, rateAt, fiatRate }
}

/**
 * The price after the merchant's spread: `fiatPerAsset × (1 − bps ÷ 10,000)`, exact. A lower price per unit raises the
 * amount due, so the spread always protects the merchant; the product (not a quotient) keeps every digit printable.
 * `bps` is a whole number from 0 to 9,999; anything else throws a `RangeError`.
 */
export function applySpread(fiatPerAsset: string, bps: number): string {
  if (!Number.isInteger(bps) || bps < 0 || bps > 9999) throw new RangeError(`spread of ${bps} basis points`)
  return formatDecimal(multiply(parseDecimal(fiatPerAsset), { digits: BigInt(10_000 - bps), scale: 4 }))
}

type CryptoLeg = RateSnapshot['usdPerSymbol'][string]
type FxLeg = NonNullable<RateSnapshot['fiatPerUsd'][FiatSeries]>
interface Legs {
  readonly crypto: CryptoLeg
  readonly fx: FxLeg
}

function legsOf(snapshot: RateSnapshot, request: RateRequest, catalog: Pick<Catalog, 'asset'>): Legs | null {
  const symbol = catalog.asset(request.asset).symbol
  const crypto = snapshot.usdPerSymbol[symbol]
  const fx = snapshot.fiatPerUsd[seriesOf(request.fiat, request.arsSeries)]
  return crypto === undefined || fx === undefined ? null : { crypto, fx }
}

/** Names what is missing: the coin, the currency or both; no prices at all, also when the whole snapshot is too old. */
function missingOf(
  { catalog }: Pick<RateReaderDeps, 'catalog'>,
  snapshot: RateSnapshot | null,
  { asset, fiat, arsSeries }: RateRequest,
  now: Ms,
): RatesUnavailable {
  const { symbol } = catalog.asset(asset)
  const series = seriesOf(fiat, arsSeries)
  const internal = `no published rate of ${asset} in ${series}`
  if (snapshot === null || now >= snapshot.at + RATE_MAX_AGE_MS) {
    return new RatesUnavailable([{ kind: 'coin', name: symbol, because: 'published' }], { internal })
  }
  const missing: MissingLeg[] = []
  const coin = snapshot.usdPerSymbol[symbol]
  if (coin === undefined || now >= coin.oldestAt + RATE_MAX_AGE_MS)
    missing.push({ kind: 'coin', name: symbol, because: reasonOf(snapshot, symbol) })
  if (snapshot.fiatPerUsd[series] === undefined)
    missing.push({ kind: 'fiat', name: fiat, because: reasonOf(snapshot, series) })
  return new RatesUnavailable(missing, { internal })
}

/** A guard stopped it, or else too few sources agreed. */
function reasonOf(snapshot: RateSnapshot, name: string): MissingBecause {
  const memory = snapshot.guards[name]
  if (waitingJump(memory, snapshot.at) !== null) return 'jump'
  return isOffPeg(memory, snapshot.at) ? 'peg' : 'sources'
}

function seriesOf(fiat: FiatCode, arsSeries: ArsSeries): FiatSeries {
  return fiat === 'ARS' ? `ARS:${arsSeries}` : fiat
}

/** One path for every fiat, so that the same asset never has contradictory prices in two currencies. */
function crossPrice(legs: Legs): string {
  return formatDecimal(multiply(parseDecimal(legs.crypto.price), parseDecimal(legs.fx.price)))
}

function createSnapshotCache(deps: RateReaderDeps): () => Promise<RateSnapshot | null> {
  let held: { readonly loadedAt: Ms; readonly snapshot: RateSnapshot } | null = null
  let loading: Promise<RateSnapshot | null> | null = null

  async function load(): Promise<RateSnapshot | null> {
    try {
      const snapshot = await newestSnapshot(deps.rates, deps.clock.now())
      // A missing snapshot is not cached: the first one after a start must be visible at once.
      held = snapshot === null ? null : { loadedAt: deps.clock.now(), snapshot }
      return snapshot
    } finally {
      loading = null
    }
  }

  return async () => {
    const age = held === null ? Number.POSITIVE_INFINITY : deps.clock.now() - held.loadedAt
    if (held !== null && age >= 0 && age < CACHE_MS) return held.snapshot
    loading ??= load()
    return loading
  }
}
