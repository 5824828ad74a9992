import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME, textAs } from '#shared/db/connection/stored-fields.ts'

const NINETY_DAYS_S = 90 * 86_400

/** What a mail says. */
type MailTemplate =
  | 'payment_reorged'
  | 'endpoint_failing'
  | 'endpoints_behind'
  | 'shared_key_material'
  | 'addresses_low'
  | 'exceptions_digest'
  | 'wallet_changed'
  | 'address_displaced'
  | 'address_proved'
  | 'login_new_device'
  | 'recovery_code_used'
  | 'account_changed'
  | 'password_reset_requested'
  | 'member_invited'
  | 'owner_notice'
  | 'installation_problems'
  | 'installation_recovered'

/** The mails collection; kept 90 days. */
export const MAILS = defineCollection(
  'mails',
  {
    /** Deterministic, so that a mail is created once. */
    _id: z.string(),
    workspaceId: z.string(),
    template: textAs<MailTemplate>(),
    to: z.string(),
    data: z.record(z.string(), z.string()),
    createdAt: TIME,
    status: z.enum(['pending', 'sent', 'failed']),
    /** Recorded outcomes that count towards giving up. Claims and an unreachable server never do. */
    attempt: z.number(),
    claims: z.number(),
    /** Next send time, and the end of the lease while claimed. */
    dueAt: TIME,
    leaseToken: z.string().nullable(),
    finishedAt: TIME.nullable(),
    /** The last fault, or the server's reply when it accepted the mail. */
    lastReply: z.string().nullable(),
  },
  [
    { name: 'mail_due', key: { dueAt: 1 }, partialFilterExpression: { status: 'pending' } },
    { name: 'mail_failed', key: { finishedAt: 1 }, partialFilterExpression: { status: 'failed' } },
    { name: 'mail_life', key: { createdAt: 1 }, expireAfterSeconds: NINETY_DAYS_S },
  ],
)

/** A stored mail. */
export type MailDocument = StoredOf<typeof MAILS>

/** A mail with its outcomes. All of it is in the store: a restart or an empty Redis changes nothing. */
export type QueuedMail = RecordOf<typeof MAILS>

/** A mail to be queued. */
export type MailRecord = Pick<QueuedMail, 'id' | 'workspaceId' | 'template' | 'to' | 'data' | 'createdAt'>
