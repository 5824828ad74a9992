import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ListedAddress } from './addresses.ts'

/** Addresses that an action adds to a material, in the same transaction as its audit row. */
export interface Listing {
  readonly materialId: string
  readonly rows: readonly ListedAddress[]
  readonly offeredFrom: Ms | null
}
