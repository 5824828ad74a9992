import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ListOrder, MovedPeriod } from './list-order.ts'

/** What a search for payments names. A payment is found when it is one of these, of one of these invoices, or of one of these amounts. */
export interface PaymentSearch {
  readonly ids: readonly string[]
  readonly invoiceIds: readonly string[]
  /** Base units of a token that is known but not accepted have no asset. */
  readonly amounts: readonly { readonly asset: AssetId | null; readonly amountBase: bigint }[]
}

/** A page of a workspace's payments in the dashboard: also those that do not count. */
export interface PaymentPageQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly network: NetworkId | null
  readonly counted: boolean | null
  readonly createdFrom: Ms | null
  /** Exclusive. */
  readonly createdTo: Ms | null
  /** Of another time than creation; none when absent. */
  readonly moved?: MovedPeriod
  /** Every payment when absent. */
  readonly search?: PaymentSearch | null
  /** Of detection; newest first when absent. */
  readonly order?: ListOrder
  readonly limit: number
  /** The last payment of the page before, in this order; null = from the start. */
  readonly beforeId: string | null
}
