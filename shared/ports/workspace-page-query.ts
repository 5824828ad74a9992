import type { Mode } from '#shared/domain/enumerations.ts'
import type { ListOrder } from './list-order.ts'

/** A page of a workspace's records in one mode. */
export interface ProductQuery {
  readonly workspaceId: string
  readonly mode: Mode
  /** Of creation; newest first when absent. */
  readonly order?: ListOrder
  readonly limit: number
  /** The last record of the page before, in this order; null = from the start. */
  readonly beforeId: string | null
}
