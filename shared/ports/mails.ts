import type { Ms } from '#shared/domain/invoice/model.ts'

export interface MailRecord {
  /** Deterministic, so that a mail is created once. */
  readonly id: string
  readonly workspaceId: string
  readonly template:
    | 'payment_reorged'
    | 'endpoint_failing'
    | 'shared_key_material'
    | 'addresses_low'
    | 'exceptions_digest'
    | 'wallet_changed'
    | 'address_displaced'
    | 'address_proved'
    | 'login_new_device'
    | 'recovery_code_used'
    | 'account_changed'
    | 'password_reset_asked'
    | 'member_invited'
    | 'owner_notice'
  readonly to: string
  readonly data: Readonly<Record<string, string>>
  readonly createdAt: Ms
}

export interface MailRepository {
  /** Queues what is missing. */
  insertMany(mails: readonly MailRecord[]): Promise<void>
  /** True when one of these was ever queued and is still stored (90 days). */
  hasAny(ids: readonly string[]): Promise<boolean>
}
