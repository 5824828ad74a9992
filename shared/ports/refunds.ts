import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** `asked`: a link was made for the customer. `addressed`: the customer said where to. `sent`: an operator noted the transaction. */
export const REFUND_STATUSES = ['asked', 'addressed', 'sent', 'withdrawn'] as const
export type RefundStatus = (typeof REFUND_STATUSES)[number]

/**
 * Money that a merchant means to give back. A record and no transfer: whoever sends it does so from a wallet of their own, and
 * no key ever comes here.
 */
export interface Refund {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string
  readonly asset: AssetId
  readonly network: NetworkId
  readonly amountBase: bigint
  readonly status: RefundStatus
  /** SHA-256 of the token in the customer's link, hex. The token itself is never stored. */
  readonly tokenHash: string
  /** From then on the link asks for nothing any more. */
  readonly expiresAt: Ms
  /** Where to, as the customer said; null until then. Never changed once given. */
  readonly address: string | null
  readonly addressedAt: Ms | null
  readonly txHash: string | null
  readonly sentAt: Ms | null
  /** Who asked, and who noted the transaction: `user:<e-mail>`. */
  readonly askedBy: string
  readonly sentBy: string | null
  readonly createdAt: Ms
}

export interface RefundRepository {
  /** Stores a refund together with its audit row, or gives what the id names already. */
  open(refund: Refund, audit: AuditRecord): Promise<Refund>
  findInWorkspace(workspaceId: string, mode: Mode, id: string): Promise<Refund | null>
  findByTokenHash(tokenHash: string): Promise<Refund | null>
  /** Newest first. */
  listByInvoice(invoiceId: string): Promise<readonly Refund[]>
  /** `asked` → `addressed`, together with the audit row; false when it is no longer `asked`. */
  giveAddress(id: string, address: string, at: Ms, audit: AuditRecord): Promise<boolean>
  /** `asked` or `addressed` → `sent`, together with the audit row; false when it is neither. */
  noteSent(
    id: string,
    sent: { readonly txHash: string; readonly at: Ms; readonly by: string },
    audit: AuditRecord,
  ): Promise<boolean>
  /** `asked` or `addressed` → `withdrawn`, together with the audit row; false when it is neither. */
  withdraw(id: string, audit: AuditRecord): Promise<boolean>
}

/** Reads addresses of every family, those of other people included. */
export interface AddressReader {
  /**
   * An address in its one spelling, and what scanners match it by. Throws `PaymeshError('VALIDATION_ERROR')` with path `address`
   * and a text that names the problem and repeats nothing of what was given, which may be a private key.
   */
  read(network: NetworkId, mode: Mode, text: string): { readonly address: string; readonly matchKey: string }
}
