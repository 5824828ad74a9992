import { PaymeshError } from '#shared/contracts/errors.ts'
import type { PaymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import type { PaymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Attribution } from '#shared/domain/invoice/invoice-event.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { PaymentLink } from '#shared/ports/payment-links.ts'
import type { Product } from '#shared/ports/products.ts'
import type { ProductQuery } from '#shared/ports/workspace-page-query.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { presentPaymentLink } from './present-payment-link.ts'

/** Dependencies of managing payment links. */
export type ManagePaymentLinksDeps = Uses<'paymentLinks' | 'products' | 'clock'> & {
  readonly urls: PublicUrls
}

/** A validated request for a payment link. */
export interface CreatePaymentLinkInput {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly body: PaymentLinkBody
  /** Pre-allocated, so that a retry after a crash finds the link it created. */
  readonly linkId: string
  /** The operator who does it; absent for API calls. */
  readonly attribution?: Attribution
  /** Limits of the link; absent for API calls, which have none. */
  readonly limits?: Partial<Pick<PaymentLink, 'usesMax' | 'expiresAt'>>
}

/** One link of a workspace and mode. */
export interface PaymentLinkScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly linkId: string
  /** The operator who does it; absent for API calls. */
  readonly attribution?: Attribution
}

/**
 * Creates an active link; of a product it copies the current terms. A repetition with the same `linkId` returns
 * the link of the first run. Throws `PLAN_LIMIT_REACHED`, `NOT_FOUND` for an unknown or foreign product and
 * `INVALID_STATE` for an inactive one.
 */
export async function createPaymentLink(
  deps: ManagePaymentLinksDeps,
  input: CreatePaymentLinkInput,
): Promise<PaymentLinkResource> {
  const { workspace, mode, body, linkId } = input
  // Checked first: a retry must find its link even when that link used up the plan or the product has ended since.
  const earlier = await deps.paymentLinks.findInWorkspace(workspace.id, mode, linkId)
  if (earlier !== null) return presentOne(deps, earlier)
  await requireQuota(deps, workspace, mode)
  const terms = body.kind === 'own' ? ownTerms(body) : await productTerms(deps, workspace.id, mode, body)
  const now = deps.clock.now()
  const audit = catalogAudit('payment_link.created', linkId, { ...input, workspaceId: workspace.id, at: now })
  const link: PaymentLink = {
    id: linkId,
    workspaceId: workspace.id,
    mode,
    status: 'active',
    ...terms,
    ...limitsOf(input, now),
    createdAt: now,
    updatedAt: now,
    deactivatedAt: null,
  }
  const stored = await deps.paymentLinks.insert(link, audit, workspace.limits.paymentLinks)
  if (stored === null) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
  return presentOne(deps, stored)
}

/** A page of links, newest first. */
export async function listPaymentLinks(
  deps: Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls' | 'clock'>,
  query: ProductQuery,
): Promise<readonly PaymentLinkResource[]> {
  const links = await deps.paymentLinks.list(query)
  const uses = await deps.paymentLinks.countUses(
    links.map(({ id }) => id),
    deps.clock.now(),
  )
  return links.map((link) => presentPaymentLink(link, uses.get(link.id) ?? 0, deps.urls))
}

/** One link with its number of uses. Throws `NOT_FOUND` for an unknown or foreign one. */
export async function getPaymentLink(
  deps: Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls' | 'clock'>,
  { workspaceId, mode, linkId }: PaymentLinkScope,
): Promise<PaymentLinkResource> {
  const link = await deps.paymentLinks.findInWorkspace(workspaceId, mode, linkId)
  if (link === null) throw new PaymeshError('NOT_FOUND')
  return presentOne(deps, link)
}

/**
 * Deactivates a link, with an audit row for every actor; its invoices stay valid. An inactive link is returned unchanged, so a retry needs no
 * stored result. Throws `NOT_FOUND` for an unknown or foreign one.
 */
export async function deactivatePaymentLink(
  deps: Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls' | 'clock'>,
  scope: PaymentLinkScope & { readonly attribution: { readonly by: string; readonly reason?: string } },
): Promise<PaymentLinkResource> {
  const { workspaceId, mode, linkId } = scope
  const at = deps.clock.now()
  const audit = catalogAudit('payment_link.deactivated', linkId, { ...scope, at })
  const link = await deps.paymentLinks.deactivate(workspaceId, mode, linkId, at, audit)
  if (link === null) throw new PaymeshError('NOT_FOUND')
  return presentOne(deps, link)
}

/** Throws `VALIDATION_ERROR` with path `expires_at` for an end that is not in the future. */
function limitsOf({ limits = {} }: CreatePaymentLinkInput, now: Ms): Pick<PaymentLink, 'usesMax' | 'expiresAt'> {
  const { usesMax = null, expiresAt = null } = limits
  if (expiresAt !== null && expiresAt <= now) throw invalid([{ path: 'expires_at', message: 'must be in the future' }])
  return { usesMax, expiresAt }
}

/** Active links per workspace and mode; the insert counts again. */
async function requireQuota(deps: ManagePaymentLinksDeps, workspace: Workspace, mode: Mode): Promise<void> {
  const limit = workspace.limits.paymentLinks
  if (limit === null) return
  const used = limit === 0 ? 0 : await deps.paymentLinks.countActive(workspace.id, mode, limit)
  if (used >= limit) throw new PaymeshError('PLAN_LIMIT_REACHED', { internal: `${used} of ${limit} active links` })
}

type Terms = Pick<PaymentLink, 'title' | 'description' | 'currency' | 'amount' | 'productId'>

function ownTerms({ title, description, currency, amount }: Extract<PaymentLinkBody, { kind: 'own' }>): Terms {
  return { title, description, currency, amount, productId: null }
}

async function productTerms(
  deps: ManagePaymentLinksDeps,
  workspaceId: string,
  mode: Mode,
  body: Extract<PaymentLinkBody, { kind: 'product' }>,
): Promise<Terms> {
  const product: Product | null = await deps.products.findInWorkspace(workspaceId, mode, body.productId)
  if (product === null) {
    throw new PaymeshError('NOT_FOUND', { details: [{ path: 'product_id', message: 'product not found' }] })
  }
  if (!product.active) {
    throw new PaymeshError('INVALID_STATE', { details: [{ path: 'product_id', message: 'the product is inactive' }] })
  }
  return {
    title: product.name,
    description: body.description ?? product.description,
    currency: product.price.currency,
    amount: { kind: 'fixed', minor: product.price.minor },
    productId: product.id,
  }
}

async function presentOne(
  deps: Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls' | 'clock'>,
  link: PaymentLink,
): Promise<PaymentLinkResource> {
  const uses = await deps.paymentLinks.countUses([link.id], deps.clock.now())
  return presentPaymentLink(link, uses.get(link.id) ?? 0, deps.urls)
}

/** The row that is stored with what an operator does to a link or a product; undefined for API calls. */
export function catalogAudit(
  action: 'payment_link.created' | 'payment_link.deactivated' | 'product.created',
  subject: string,
  { workspaceId, mode, attribution, at }: Omit<PaymentLinkScope, 'linkId'> & { readonly at: Ms },
): AuditRecord | undefined {
  if (attribution?.by === undefined) return undefined
  const id = `${action.replaceAll(/[._]/g, '-')}:${subject}`
  const detail = { reason: attribution.reason ?? null }
  return { id, at, actor: attribution.by, action, subject, workspaceId, mode, detail }
}
