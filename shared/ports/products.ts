export type { Product } from '#shared/db/payment-links/product-model.ts'

/** What an operator may change of a product. Payment links keep what they copied. */
export interface ProductChange {
  readonly name: string
  readonly description: string | null
  /** Minor units of the product's currency, above zero. */
  readonly priceMinor: bigint
}
