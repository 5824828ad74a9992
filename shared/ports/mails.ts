import type { MailRecord } from '#shared/db/mails/mail-model.ts'

export type { MailRecord } from '#shared/db/mails/mail-model.ts'

export interface MailRepository {
  /** Queues what is missing. */
  insertMany(mails: readonly MailRecord[]): Promise<void>
  /** True when one of these was ever queued and is still stored (90 days). */
  hasAny(ids: readonly string[]): Promise<boolean>
}
