import type { QueuedMail } from '#shared/db/mails/mail-model.ts'
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

/** The mailer's side of the mails. */
export interface MailQueue {
  /** Pending mails due before `until`, oldest first. */
  due(until: Ms, limit: number): Promise<readonly { readonly id: string; readonly dueAt: Ms }[]>
  /** Claims a due mail for `leaseMs`; null when it is not due, claimed by another or finished. */
  claim(id: string, token: string, leaseMs: Ms): Promise<QueuedMail | null>
  /** False when the lease was lost; then nothing was written. */
  finish(outcome: MailOutcome): Promise<boolean>
  /** Releases a claimed mail that was not tried at once. */
  release(id: string, token: string): Promise<void>
  findById(id: string): Promise<QueuedMail | null>
  /** The latest mails, newest first. */
  listNewest(limit: number): Promise<readonly QueuedMail[]>
  /** How many wait, how many of them have been due since before `overdueSince`, and how many failed in the last week. */
  count(overdueSince: Ms): Promise<{ readonly waiting: number; readonly overdue: number; readonly failed: number }>
}
