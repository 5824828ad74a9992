import type { FiatCode, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { ProductQuery } from './workspace-page-query.ts'

/** Price of one payment through a link: set by the merchant, or chosen by the payer within bounds. Minor units, above zero. */
export type LinkAmount =
  | { readonly kind: 'fixed'; readonly minor: bigint }
  | { readonly kind: 'custom'; readonly minMinor: bigint | null; readonly maxMinor: bigint | null }

/** A page that anyone may open to get an invoice. A link never changes, except that it can be deactivated. */
export interface PaymentLink {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly status: 'active' | 'inactive'
  readonly title: string
  readonly description: string | null
  readonly currency: FiatCode
  readonly amount: LinkAmount
  /** The product that title, price and currency were copied from. */
  readonly productId: string | null
  readonly createdAt: Ms
  readonly updatedAt: Ms
  readonly deactivatedAt: Ms | null
}

export interface PaymentLinkRepository {
  /**
   * Stores a link, together with an audit row if one is given, or returns the one that already has the id; null when that
   * one cannot be read yet.
   */
  insert(link: PaymentLink, audit?: AuditRecord): Promise<PaymentLink | null>
  findInWorkspace(workspaceId: string, mode: Mode, id: string): Promise<PaymentLink | null>
  /** For payers, who have only the link's id. */
  findById(id: string): Promise<PaymentLink | null>
  list(query: ProductQuery): Promise<readonly PaymentLink[]>
  /** Deactivates a link once and returns it; an inactive link is unchanged. Null when unknown. */
  deactivate(workspaceId: string, mode: Mode, id: string, at: Ms, audit?: AuditRecord): Promise<PaymentLink | null>
  /** Active links of a workspace and mode, counted up to `max`. */
  countActive(workspaceId: string, mode: Mode, max: number): Promise<number>
  /** Invoices made from each of these links; links without any are left out. */
  countUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
}
