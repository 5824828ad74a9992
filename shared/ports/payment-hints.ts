import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** A transaction that a payer's wallet says it sent. Nobody checked it, and it never changes an invoice. */
export interface PaymentHint {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly network: NetworkId
  /** In the network's own spelling (`transactionId`). */
  readonly txHash: string
  readonly at: Ms
}
