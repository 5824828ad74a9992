import type { MailRecord } from '#shared/usecases/ports/events.ts'
import { DATE, defineCollection, TEXT } from './collection-model.ts'

/** A stored mail that waits for the mailer. */
export type MailDocument = Omit<MailRecord, 'id' | 'createdAt'> & { _id: string; createdAt: Date }

const NINETY_DAYS_S = 90 * 86_400

/** The mails collection; kept 90 days. */
export const MAILS = defineCollection<MailDocument>(
  'mails',
  { _id: TEXT, workspaceId: TEXT, template: TEXT, to: TEXT, data: Object, createdAt: DATE },
  [{ name: 'mail_life', key: { createdAt: 1 }, expireAfterSeconds: NINETY_DAYS_S }],
)
