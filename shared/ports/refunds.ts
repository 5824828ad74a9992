import type { Refund } from '#shared/db/refunds/refund-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { MailRecord } from './mails.ts'
import type { Payment } from './payments.ts'

export type { Refund } from '#shared/db/refunds/refund-model.ts'

/** What a new refund is checked against, as of the transaction that stores it. */
export interface RefundClaims {
  /** The invoice's confirmed payments, counted or not, in every asset. */
  readonly payments: readonly Pick<Payment, 'asset' | 'state' | 'amountBase'>[]
  /** The invoice's other refunds. */
  readonly refunds: readonly Refund[]
}

export interface RefundRepository {
  /**
   * Stores a refund in one transaction with its audit row and the mails that `check` returns, or returns the one that already has the id.
   * `check` sees what is true when the refund is stored: two refunds of an invoice never pass it side by side, because each raises the
   * invoice's `refundSeq`. It may run several times; what it throws leaves everything as it was.
   */
  open(
    refund: Refund,
    audit: AuditRecord,
    check: (claims: RefundClaims) => Promise<readonly MailRecord[]>,
  ): Promise<Refund>
  findInWorkspace(workspaceId: string, mode: Mode, id: string): Promise<Refund | null>
  findByTokenHash(tokenHash: string): Promise<Refund | null>
  /** Newest first. */
  listByInvoice(invoiceId: string): Promise<readonly Refund[]>
  /** `asked` → `addressed`, together with the audit row; false when it is not `asked`. */
  giveAddress(id: string, address: string, at: Ms, audit: AuditRecord): Promise<boolean>
  /** `asked` or `addressed` → `sent`, together with the audit row; false when it is neither. */
  noteSent(
    id: string,
    sent: { readonly txHash: string; readonly at: Ms; readonly by: string },
    audit: AuditRecord,
  ): Promise<boolean>
  /** `asked` or `addressed` → `withdrawn`, together with the audit row; raises the invoice's `refundSeq`. False when it is neither. */
  withdraw(id: string, audit: AuditRecord): Promise<boolean>
}

/** Reads addresses of every family, entered by anyone. */
export interface AddressReader {
  /**
   * An address in canonical spelling, and its match key. Throws `PaymeshError('VALIDATION_ERROR')` with path `address`
   * and a text that names the problem without repeating the input, which may be a private key.
   */
  read(network: NetworkId, mode: Mode, text: string): { readonly address: string; readonly matchKey: string }
}
