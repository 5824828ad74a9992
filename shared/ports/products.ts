import type { FiatCode, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { ProductQuery } from './workspace-page-query.ts'

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
  /** New payment links may be created from it. */
  readonly active: boolean
  readonly createdAt: Ms
  readonly updatedAt: Ms
}

export interface ProductRepository {
  /**
   * Stores a product unless its id or its SKU exists already. `stored` returns the product with this id: this one, or
   * the one that an earlier run of the same operation stored. An audit row is stored together with it. `in_progress`: the conflicting product cannot be read yet.
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
  list(query: ProductQuery): Promise<readonly Product[]>
}
