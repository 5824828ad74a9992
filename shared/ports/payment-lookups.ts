import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ListOrder } from './list-order.ts'

/** A page of a workspace's payments in the dashboard: also those that do not count. */
export interface PaymentPageQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly network: NetworkId | null
  readonly counted: boolean | null
  readonly createdFrom: Ms | null
  /** Exclusive. */
  readonly createdTo: Ms | null
  /** Of detection; newest first when absent. */
  readonly order?: ListOrder
  readonly limit: number
  /** The last payment of the page before, in this order; null = from the start. */
  readonly beforeId: string | null
}

/** A confirmed payment in an accepted asset, as settlement reports need it. */
export interface SettledPayment {
  readonly id: string
  readonly confirmedAt: Ms
  readonly network: NetworkId
  readonly asset: AssetId
  readonly matchKey: string
  readonly amountBase: bigint
  /** It counts towards its invoice. */
  readonly counted: boolean
}

/** Confirmed payments of a workspace by the time of their confirmation. */
export interface SettledQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly from: Ms | null
  /** Exclusive. */
  readonly to: Ms | null
  /** Continue after this payment. */
  readonly after: Pick<SettledPayment, 'id' | 'confirmedAt'> | null
  readonly limit: number
}
