import type { Ms } from '#shared/domain/invoice/model.ts'

export type { QueuedMail } from '#shared/db/mails/mail-model.ts'

/** Outcome of one try; written only while the token still holds the mail. */
export interface MailOutcome {
  readonly mailId: string
  readonly leaseToken: string
  readonly result: 'sent' | 'retry' | 'failed'
  /** Whether it counts towards giving up. */
  readonly counts: boolean
  /** For `retry`: when to try again. */
  readonly dueAt: Ms | null
  readonly at: Ms
  readonly reply: string
}
