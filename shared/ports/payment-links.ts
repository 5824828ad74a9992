import type { FiatCode, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { CatalogueQuery } from './workspace-page-query.ts'

/** What one payment through a link costs: set by the merchant, or chosen by the payer within bounds. Minor units, above zero. */
export type LinkAmount =
  | { readonly kind: 'fixed'; readonly minor: bigint }
  | { readonly kind: 'custom'; readonly minMinor: bigint | null; readonly maxMinor: bigint | null }

/** A page that anyone may open to get an invoice. Except for its end, a link never changes. */
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
   * Stores a link, together with an audit row where one is given, or gives the one that the id names already; null when that
   * one cannot be read yet.
   */
  insert(link: PaymentLink, audit?: AuditRecord): Promise<PaymentLink | null>
  findInWorkspace(workspaceId: string, mode: Mode, id: string): Promise<PaymentLink | null>
  /** For payers, who know the link's id and nothing else. */
  findById(id: string): Promise<PaymentLink | null>
  list(query: CatalogueQuery): Promise<readonly PaymentLink[]>
  /** Ends a link once and gives it as it is then; a link that ended before stays unchanged. Null when unknown. */
  deactivate(workspaceId: string, mode: Mode, id: string, at: Ms, audit?: AuditRecord): Promise<PaymentLink | null>
  /** Active links of a workspace and mode, counted up to `max`. */
  countActive(workspaceId: string, mode: Mode, max: number): Promise<number>
  /** Invoices made from each of these links; links without any are left out. */
  countUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
}
