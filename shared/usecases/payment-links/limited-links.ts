import { PaymeshError } from '#shared/contracts/errors.ts'
import type { PaymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import type { PaymentLink } from '#shared/ports/payment-links.ts'
import type { ProductQuery } from '#shared/ports/workspace-page-query.ts'
import { usesTaken } from './link-limits.ts'
import type { ManagePaymentLinksDeps, PaymentLinkScope } from './manage-payment-links.ts'
import { presentPaymentLink } from './present-payment-link.ts'

/** A link as operators see it: as the API shows it, with its limits. */
export interface LimitedLink extends PaymentLinkResource {
  /** Null without a limit. */
  readonly max_uses: number | null
  readonly expires_at: string | null
  /** Uses that payers cannot get any more, at this moment; null without a limit. */
  readonly uses_taken: number | null
}

type Deps = Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls' | 'clock'>

/** A page of links with their limits, newest first. */
export async function listLimitedLinks(deps: Deps, query: ProductQuery): Promise<readonly LimitedLink[]> {
  const links = await deps.paymentLinks.list(query)
  const uses = await deps.paymentLinks.countUses(
    links.map(({ id }) => id),
    deps.clock.now(),
  )
  return await Promise.all(links.map((link) => present(deps, link, uses.get(link.id) ?? 0)))
}

/** One link with its limits. Throws `NOT_FOUND` for an unknown or foreign one. */
export async function getLimitedLink(
  deps: Deps,
  { workspaceId, mode, linkId }: PaymentLinkScope,
): Promise<LimitedLink> {
  const link = await deps.paymentLinks.findInWorkspace(workspaceId, mode, linkId)
  if (link === null) throw new PaymeshError('NOT_FOUND')
  const uses = await deps.paymentLinks.countUses([link.id], deps.clock.now())
  return await present(deps, link, uses.get(link.id) ?? 0)
}

async function present({ urls, paymentLinks }: Deps, link: PaymentLink, uses: number): Promise<LimitedLink> {
  const { usesMax, expiresAt } = link
  const taken = usesMax === null ? null : usesTaken(await paymentLinks.usesHeld(link.id))
  const end = expiresAt === null ? null : new Date(expiresAt).toISOString()
  return { ...presentPaymentLink(link, uses, urls), max_uses: usesMax, expires_at: end, uses_taken: taken }
}
