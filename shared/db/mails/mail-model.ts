import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { QueuedMail } from '#shared/ports/mail-queue.ts'

/** A stored mail. */
export type MailDocument = Omit<QueuedMail, 'id' | 'createdAt' | 'dueAt' | 'finishedAt'> & {
  _id: string
  createdAt: Date
  /** Next send time, and the end of the lease while claimed. */
  dueAt: Date
  finishedAt: Date | null
}

const NINETY_DAYS_S = 90 * 86_400

/** The mails collection; kept 90 days. */
export const MAILS = defineCollection<MailDocument>(
  'mails',
  {
    _id: TEXT,
    workspaceId: TEXT,
    template: TEXT,
    to: TEXT,
    data: Object,
    createdAt: DATE,
    status: { type: String, enum: ['pending', 'sent', 'failed'], required: true },
    attempt: COUNT,
    claims: COUNT,
    dueAt: DATE,
    leaseToken: optional(String),
    finishedAt: optional(Date),
    lastReply: optional(String),
  },
  [
    { name: 'mail_due', key: { dueAt: 1 }, partialFilterExpression: { status: 'pending' } },
    { name: 'mail_failed', key: { finishedAt: 1 }, partialFilterExpression: { status: 'failed' } },
    { name: 'mail_life', key: { createdAt: 1 }, expireAfterSeconds: NINETY_DAYS_S },
  ],
)
