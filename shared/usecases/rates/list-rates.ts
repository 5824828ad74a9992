import type { RateResource } from '#shared/contracts/http/rate-resource.ts'
import { type MissingLeg, RatesUnavailable } from '#shared/contracts/rates/rates-unavailable.ts'
import { ASSET_IDS, type AssetId, type FiatCode, type Mode } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { applySpread } from './read-rate.ts'

/** Dependencies of listing rates. */
export type ListRatesDeps = Uses<'catalog' | 'rates'>

/** The requested rates, and the workspace. */
export interface ListRatesInput {
  readonly workspace: Pick<Workspace, 'policy'>
  readonly mode: Mode
  readonly fiat: FiatCode
  /** Null = every asset. */
  readonly asset: AssetId | null
}

/**
 * The current value of the assets in one fiat currency, in the order of the specification. An asset without a fresh rate
 * is left out; throws `RATES_UNAVAILABLE` when none is left.
 */
export async function listRates(deps: ListRatesDeps, input: ListRatesInput): Promise<readonly RateResource[]> {
  const assets = input.asset === null ? ASSET_IDS : [input.asset]
  const found = await Promise.all(assets.map((asset) => rateOf(deps, input, asset)))
  const rates = found.filter((rate): rate is RateResource => !(rate instanceof RatesUnavailable))
  if (rates.length > 0) return rates
  const missing = found.flatMap((refusal) => (refusal instanceof RatesUnavailable ? refusal.missing : []))
  throw new RatesUnavailable(namedOnce(missing), { fiatPath: 'fiat', internal: `no rate in ${input.fiat}` })
}

/** A currency without a price is the reason for every asset, and a coin is on several networks. */
function namedOnce(missing: readonly MissingLeg[]): readonly MissingLeg[] {
  const ofEvery = missing.filter(({ kind, because }) => kind === 'fiat' || because === 'published')
  const legs = ofEvery.length > 0 ? ofEvery.slice(0, 1) : missing
  return legs.filter(({ name }, index) => legs.findIndex((leg) => leg.name === name) === index)
}

async function rateOf(
  deps: ListRatesDeps,
  input: ListRatesInput,
  asset: AssetId,
): Promise<RateResource | RatesUnavailable> {
  const { policy } = input.workspace
  try {
    const rate = await deps.rates.rateFor({ asset, fiat: input.fiat, arsSeries: policy.arsSeries })
    const { symbol, network } = deps.catalog.asset(asset)
    const observedAt = new Date(rate.observedAt).toISOString()
    return {
      object: 'rate',
      livemode: input.mode === 'live',
      asset,
      symbol,
      network,
      fiat: input.fiat,
      fiat_per_asset: applySpread(rate.fiatPerAsset, policy.spreadBps),
      sources: rate.sources.length,
      // A rate never changes: the next one replaces it.
      created_at: observedAt,
      updated_at: observedAt,
      expires_at: new Date(rate.expiresAt).toISOString(),
    }
  } catch (error) {
    if (error instanceof RatesUnavailable) return error
    throw error
  }
}
