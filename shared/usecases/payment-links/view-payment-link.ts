import type { LinkView } from '#shared/contracts/checkout/invoice-view.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { viewMerchant } from '#shared/usecases/workspaces/view-merchant.ts'
import { hasExpired, usesBusy } from './link-limits.ts'

/** Dependencies of showing a payment link to a payer. */
export type ViewPaymentLinkDeps = Uses<'paymentLinks' | 'clock' | 'workspaces'>

/** A payment link as a payer sees it; shown as ended when its merchant may not create invoices. Null for an unknown id. Creates nothing. */
export async function viewPaymentLink(deps: ViewPaymentLinkDeps, linkId: string): Promise<LinkView | null> {
  const link = await deps.paymentLinks.findById(linkId)
  if (link === null) return null
  const workspace = await deps.workspaces.findById(link.workspaceId)
  if (workspace === null) throw new Error(`link ${linkId} belongs to no workspace`)
  const { currency, amount } = link
  const text = (minor: bigint | null) => (minor === null ? null : formatFiat(minor, currency))
  const isOn = link.status === 'active' && !hasExpired(link, deps.clock.now())
  const isOpen = isOn && workspace.status === 'active'
  const busy = isOpen ? await usesBusy(deps, link) : null
  return {
    id: link.id,
    mode: link.mode,
    isActive: isOpen && busy === null,
    ...(isOn && !isOpen && { isSuspended: true }),
    ...(busy !== null && { isUsedUp: true, ...(busy.retryAfter !== null && { retryAfter: busy.retryAfter }) }),
    merchant: viewMerchant(workspace),
    title: link.title,
    description: link.description,
    currency,
    amount:
      amount.kind === 'fixed'
        ? { kind: 'fixed', value: formatFiat(amount.minor, currency) }
        : { kind: 'custom', min: text(amount.minMinor), max: text(amount.maxMinor) },
  }
}
