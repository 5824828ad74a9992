import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'

/** A link that lets a person choose a new password. */
export interface PasswordReset {
  readonly userId: string
  /** SHA-256 of the token in the link, hex; the token itself is only in the mail. */
  readonly tokenHash: string
  /** SHA-256 of the stored password that it replaces, hex: after any other change of it the link is void. */
  readonly passwordDigest: string
  readonly expiresAt: Ms
}

/** Open links. Each is used once. */
export interface PasswordResets {
  /** Stores a link with its audit row and mail; false, and nothing at all, when the person has `max` that have not expired at `at`. */
  insert(reset: PasswordReset, max: number, at: Ms, auditWrite: AuditWrite): Promise<boolean>
  /** The link of a token; null when it is unknown, used or removed. It may have expired. */
  findByTokenHash(tokenHash: string): Promise<PasswordReset | null>
  /**
   * Uses a link: replaces the password `from`, ends every session and removes all links of the person, with the audit row and the mails, in
   * one transaction. False, and nothing changed, when the link was used or has expired at `at`, or the password is not `from` any more.
   */
  complete(
    reset: Pick<PasswordReset, 'userId' | 'tokenHash'>,
    change: { readonly from: string; readonly passwordHash: string; readonly at: Ms },
    auditWrite: AuditWrite,
  ): Promise<boolean>
}
