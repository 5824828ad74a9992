import { PaymeshError } from '#shared/contracts/errors.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { shareOf } from '#shared/domain/invoice/price-coverage.ts'
import { unpaidOf } from '#shared/domain/invoice/totals.ts'
import { formatFiat } from '#shared/domain/money/fiat.ts'
import { exceedsUsd } from '#shared/domain/payment/exceeds-usd.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { RateReader } from '#shared/usecases/rates/read-rate.ts'

/** Default threshold in US dollars above which a shortfall needs a second factor. */
export const SHORTFALL_STEP_UP_USD_DEFAULT = 100

/** The amount missing when funds are accepted as full payment. */
export interface Shortfall {
  /** In the invoice's currency, such as `12.50 EUR`. */
  readonly missing: string
  /** True above the workspace's threshold. */
  readonly isLarge: boolean
}

/**
 * The amount missing on an invoice after funds were accepted for it, and whether that needs a second factor. `isStated`: an operator
 * stated the value, which proves nothing, so the whole amount counts as missing. Without a fresh rate every shortfall is large.
 */
export async function classifyShortfall(
  { rates }: { readonly rates: Pick<RateReader, 'rateFor'> },
  { policy }: Pick<Workspace, 'policy'>,
  { after, isStated }: { readonly after: Invoice; readonly isStated: boolean },
): Promise<Shortfall> {
  const { minor, currency } = after.terms.fiat
  const lock = activePaymentMethod(after.state)
  // Rounded up: a shortfall is never shown, or checked, smaller than it is.
  const missingMinor = isStated || lock === null ? minor : shareOf(minor, unpaidOf(after.state, lock, 'settled'))
  const fiatPerUsd = lock === null ? null : await perUsd(rates, { asset: lock.asset, fiat: currency, policy })
  const usd = policy.shortfallStepUpUsd ?? SHORTFALL_STEP_UP_USD_DEFAULT
  const isLarge = exceedsUsd({ fiat: { minor: missingMinor, currency }, fiatPerUsd }, usd)
  return { missing: `${formatFiat(missingMinor, currency)} ${currency}`, isLarge }
}

async function perUsd(
  rates: Pick<RateReader, 'rateFor'>,
  {
    policy,
    ...request
  }: Pick<Workspace, 'policy'> &
    Omit<Parameters<RateReader['rateFor']>[0], 'arsSeries' | 'fiat'> & { readonly fiat: FiatCode },
): Promise<string | null> {
  try {
    return (await rates.rateFor({ ...request, arsSeries: policy.arsSeries })).fiatPerUsd
  } catch (error) {
    if (!(error instanceof PaymeshError)) throw error
    return null
  }
}
