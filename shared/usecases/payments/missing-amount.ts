import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { shareOf } from '#shared/domain/invoice/price-coverage.ts'
import { unpaidOf } from '#shared/domain/invoice/totals.ts'
import type { InvoiceWorth } from '#shared/domain/payment/confirmation-tiers.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { freshRate, type LargeSumDeps } from '#shared/usecases/workspaces/large-sum.ts'

/**
 * The amount missing on an invoice after funds were accepted for it, in the invoice's currency. `isStated`: an operator
 * stated the value, which proves nothing, so the whole amount counts as missing. Without a fresh rate `fiatPerUsd` is null.
 */
export async function missingAmount(
  deps: Pick<LargeSumDeps, 'rates'>,
  workspace: Pick<Workspace, 'policy'>,
  { after, isStated }: { readonly after: Invoice; readonly isStated: boolean },
): Promise<InvoiceWorth> {
  const { minor, currency } = after.terms.fiat
  const lock = activePaymentMethod(after.state)
  // Rounded up: a shortfall is never shown, or checked, smaller than it is.
  const missingMinor = isStated || lock === null ? minor : shareOf(minor, unpaidOf(after.state, lock, 'settled'))
  const rate = lock === null ? null : await freshRate(deps, workspace, { asset: lock.asset, fiat: currency })
  return { fiat: { minor: missingMinor, currency }, fiatPerUsd: rate?.fiatPerUsd ?? null }
}
