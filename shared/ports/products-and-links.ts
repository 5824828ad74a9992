import type { FiatCode, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** Something a merchant sells at a fixed price. */
export interface Product {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly name: string
  readonly description: string | null
  /** Minor units of the currency, above zero. */
  readonly price: { readonly minor: bigint; readonly currency: FiatCode }
  /** The merchant's own code, unique per workspace and mode. */
  readonly sku: string | null
  /** New payment links may be made of it. */
  readonly active: boolean
  readonly createdAt: Ms
  readonly updatedAt: Ms
}

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

/** A page of a workspace's records in one mode, newest first. */
export interface CatalogueQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly limit: number
  /** Only records older than this id. */
  readonly beforeId: string | null
}

export interface ProductRepository {
  /**
   * Stores a product unless its id or its sku is there already. `stored` gives what the id names now: this product, or
   * the one that an earlier run of the same operation stored. An audit row is stored together with it. `in_progress`: the product in the way cannot be read yet.
   */
  insert(
    product: Product,
    audit?: AuditRecord,
  ): Promise<
    | { readonly outcome: 'stored'; readonly product: Product }
    | { readonly outcome: 'sku_taken' }
    | { readonly outcome: 'in_progress' }
  >
  findInWorkspace(workspaceId: string, mode: Mode, id: string): Promise<Product | null>
  list(query: CatalogueQuery): Promise<readonly Product[]>
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
