import type { PasswordReset } from '#shared/db/accounts/operator-models.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'

export type { PasswordReset } from '#shared/db/accounts/operator-models.ts'

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
