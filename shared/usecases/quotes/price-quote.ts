import type { FiatCode } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { quoteAmountBase } from '#shared/domain/money/quote.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { AssetRate } from '#shared/ports/rates.ts'
import type { WorkspacePolicy } from '#shared/ports/workspaces.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'

/** The price in an asset for a fiat amount. */
export interface PricedAmount {
  /** Fiat per one asset unit with every digit used, spread included: dividing by it and rounding up gives `amountBase`. */
  readonly fiatPerAsset: string
  readonly amountBase: bigint
  /** The same amount as decimal text. */
  readonly amount: string
}

/** Prices an amount with the workspace's spread, rounded up to the asset's display precision. Quotes and estimates share it. */
export function priceQuote(request: {
  readonly policy: Pick<WorkspacePolicy, 'spreadBps'>
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
  readonly info: AssetInfo
  readonly rate: Pick<AssetRate, 'fiatPerAsset'>
}): PricedAmount {
  const { info, fiat } = request
  const fiatPerAsset = applySpread(request.rate.fiatPerAsset, request.policy.spreadBps)
  const amountBase = quoteAmountBase({
    fiatMinor: fiat.minor,
    currency: fiat.currency,
    fiatPerAsset,
    decimals: info.decimals,
    displayDecimals: info.displayDecimals,
  })
  return { fiatPerAsset, amountBase, amount: formatUnits(amountBase, info.decimals) }
}
