import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { MerchantView } from './invoice-view.ts'

/** Everything that the customer with a refund's link sees. Times are Unix milliseconds. */
export interface RefundView {
  readonly merchant: string
  /** The merchant with contact, logo and colour. */
  readonly shop: MerchantView
  readonly mode: Mode
  readonly invoiceNumber: number
  readonly symbol: string
  readonly network: NetworkId
  readonly amount: string
  readonly status: 'requested' | 'addressed' | 'sent' | 'withdrawn'
  readonly address: string | null
  readonly txHash: string | null
  readonly expiresAt: number
}
