import { PaymeshError } from '#shared/contracts/errors.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms } from '#shared/domain/invoice/model.ts'
import { formatFiat, leastFiatFor } from '#shared/domain/money/money.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/**
 * Throws `AMOUNT_BELOW_MINIMUM`, naming the smallest amount that would do, for an amount that at current prices is below the minimum of every
 * asset: no payer could ever pay it. An amount that some asset takes, or that an asset without a price may take, passes.
 */
export async function requirePayable(
  { catalog, rates }: Uses<'catalog' | 'rates'>,
  { policy }: Pick<Workspace, 'policy'>,
  { minor, currency }: InvoiceTerms['fiat'],
): Promise<void> {
  let least: bigint | null = null
  for (const id of ASSET_IDS) {
    const info = catalog.asset(id)
    try {
      const rate = await rates.rateFor({ asset: id, fiat: currency, arsSeries: policy.arsSeries })
      const fiatPerAsset = applySpread(rate.fiatPerAsset, policy.spreadBps)
      const needed = leastFiatFor(info.minBase, { ...info, currency, fiatPerAsset })
      if (minor >= needed) return
      if (least === null || needed < least) least = needed
    } catch (error) {
      if (error instanceof PaymeshError && error.code === 'RATES_UNAVAILABLE') return
      throw error
    }
  }
  if (least === null) return
  const message = `The smallest amount that can be paid in any asset is ${formatFiat(least, currency)} ${currency}.`
  throw new PaymeshError('AMOUNT_BELOW_MINIMUM', { details: [{ path: 'amount', message }] })
}
