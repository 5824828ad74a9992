import type { FiatCode } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { quoteAmountBase } from '#shared/domain/money/quote.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'

/** The price in an asset for a fiat amount. */
export interface PricedAmount {
  /** Fiat per one asset unit with every digit used, spread included: dividing by it and rounding up gives `amountBase`. */
  readonly fiatPerAsset: string
  readonly amountBase: bigint
  /** The same amount as decimal text. */
  readonly amount: string
}

/** The price of an amount at a rate that already includes the spread, rounded up to the asset's display precision. Quotes and estimates share it. */
export function priceQuote(
  fiat: { readonly minor: bigint; readonly currency: FiatCode },
  info: AssetInfo,
  fiatPerAsset: string,
): PricedAmount {
  const amountBase = quoteAmountBase({
    fiatMinor: fiat.minor,
    currency: fiat.currency,
    fiatPerAsset,
    decimals: info.decimals,
    displayDecimals: info.displayDecimals,
  })
  return { fiatPerAsset, amountBase, amount: formatUnits(amountBase, info.decimals) }
}
