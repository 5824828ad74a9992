import type { EstimateBody, EstimateResource } from '#shared/contracts/http/estimate.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { formatFiat, formatUnits } from '#shared/domain/money/money.ts'

import type { Workspace } from '#shared/ports/workspaces.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { priceQuote } from './price-quote.ts'

/** Dependencies of estimating. */
export type EstimateDeps = Uses<'catalog' | 'rates' | 'clock'>

/** A validated request, and its workspace. */
export interface EstimateInput {
  readonly workspace: Pick<Workspace, 'policy'>
  readonly mode: Mode
  readonly body: EstimateBody
}

/**
 * The exact amount that a quote made now would request; nothing is stored and no wallet is needed. An amount below the
 * asset's minimum is estimated like any other. Throws `RATES_UNAVAILABLE`.
 */
export async function estimateAmount(deps: EstimateDeps, input: EstimateInput): Promise<EstimateResource> {
  const { body, mode } = input
  const { policy } = input.workspace
  const info = deps.catalog.asset(body.asset)
  const rate = await deps.rates.rateFor({ asset: info.id, fiat: body.currency, arsSeries: policy.arsSeries })
  const fiat = { minor: body.minor, currency: body.currency }
  const { amount, amountBase, fiatPerAsset } = priceQuote(fiat, info, applySpread(rate.fiatPerAsset, policy.spreadBps))
  const now = new Date(deps.clock.now()).toISOString()
  return {
    object: 'estimate',
    livemode: mode === 'live',
    asset: info.id,
    network: info.network,
    symbol: info.symbol,
    // At most 12 integer digits and an exponent of 2: far below 2^53.
    fiat: { value: formatFiat(fiat.minor, fiat.currency), currency: fiat.currency, minor: Number(fiat.minor) },
    amount,
    amount_base_units: amountBase.toString(),
    decimals: info.decimals,
    fiat_per_asset: fiatPerAsset,
    min_amount: formatUnits(info.minBase, info.decimals),
    rate_updated_at: new Date(rate.observedAt).toISOString(),
    created_at: now,
    updated_at: now,
  }
}
