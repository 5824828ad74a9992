import type { AssetOptionsView } from '#shared/contracts/checkout/invoice-view.ts'
import { type AssetOptionsDeps, assetOptions } from '#shared/usecases/quotes/availability.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of listing the assets of a link. */
export type ListLinkOptionsDeps = AssetOptionsDeps & Uses<'paymentLinks' | 'workspaces'>

/**
 * The assets in which a link of a fixed amount can be paid, at current prices. Creates and reserves nothing. Null for an unknown id, and for a
 * link whose amount the payer still has to choose.
 */
export async function listLinkOptions(deps: ListLinkOptionsDeps, linkId: string): Promise<AssetOptionsView | null> {
  const link = await deps.paymentLinks.findById(linkId)
  if (link === null || link.amount.kind !== 'fixed') return null
  const workspace = await deps.workspaces.findById(link.workspaceId)
  if (workspace === null) throw new Error(`link ${linkId} belongs to no workspace`)
  const { mode, currency, amount } = link
  return await assetOptions(deps, workspace, { mode, fiat: { minor: amount.minor, currency } })
}
