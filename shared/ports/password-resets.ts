import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'

/** A link that lets a person choose a new password. */
export interface PasswordReset {
  readonly userId: string
  /** SHA-256 of the token in the link, hex; the token itself is only in the mail. */
  readonly tokenHash: string
  /** The epoch of the person. The link is void at any other; a log-out everywhere and a removal move it to the new one. */
  readonly securityEpoch: number
  readonly expiresAt: Ms
}

/** Open links. Each is used once. */
export interface PasswordResets {
  /**
   * Stores a link with its audit row and mail; false, and nothing at all, when the person has `max` that have not expired at `at`. A new
   * password or factor removes the links, so that void ones take no place.
   */
  insert(reset: PasswordReset, max: number, at: Ms, auditWrite: AuditWrite): Promise<boolean>
  /** The link of a token; null when it is unknown, used or removed. It may have expired. */
  findByTokenHash(tokenHash: string): Promise<PasswordReset | null>
  /**
   * Uses a link: replaces the password, raises the epoch, ends every session, forgets every recognised browser and removes all links of the
   * person, with the audit row and the mails, in one transaction. False, and nothing changed, when the link was used or has expired at
   * `at`, or the person's epoch was raised since.
   */
  complete(
    reset: Pick<PasswordReset, 'userId' | 'tokenHash' | 'securityEpoch'>,
    change: { readonly passwordHash: string; readonly at: Ms },
    auditWrite: AuditWrite,
  ): Promise<boolean>
}
