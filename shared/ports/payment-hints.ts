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

/** Hints of open invoices; each is kept for a day. */
export interface PaymentHints {
  /** Stores a hint, unless its invoice has it already or has `max` of them. True when it was stored. */
  add(hint: PaymentHint, max: number): Promise<boolean>
  /** The hints of an invoice, the oldest first. */
  listByInvoice(invoiceId: string): Promise<readonly PaymentHint[]>
  /** How many hints each of these invoices has; those without any are left out. */
  countsOf(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, number>>
}
