import type { Product } from '#shared/db/payment-links/product-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { ProductQuery } from './workspace-page-query.ts'

export type { Product } from '#shared/db/payment-links/product-model.ts'

/** What an operator may change of a product. Payment links keep what they copied. */
export interface ProductChange {
  readonly name: string
  readonly description: string | null
  /** Minor units of the product's currency, above zero. */
  readonly priceMinor: bigint
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
  /**
   * Changes a product that was last changed at `version`, in one write with its audit row. False, and nothing is stored, when it was
   * changed since or is unknown, or when the action of this row ran before.
   */
  update(
    product: Pick<Product, 'workspaceId' | 'mode' | 'id'> & { readonly version: Ms },
    change: ProductChange,
    at: Ms,
    audit: AuditRecord,
  ): Promise<boolean>
  findInWorkspace(workspaceId: string, mode: Mode, id: string): Promise<Product | null>
  list(query: ProductQuery): Promise<readonly Product[]>
}
