import type { Ms } from '#shared/domain/invoice/model.ts'

/** A mail with what became of it. All of it is in the store: a restart or a wiped Redis changes nothing. */
export interface QueuedMail extends MailRecord {
  readonly status: 'pending' | 'sent' | 'failed'
  /** Recorded outcomes that count towards giving up. Claims and an unreachable server never do. */
  readonly attempt: number
  readonly claims: number
  /** Next send time, and the lease clock while claimed. */
  readonly dueAt: Ms
  readonly leaseToken: string | null
  readonly finishedAt: Ms | null
  /** What was wrong last, or what the server said when it took the mail. */
  readonly lastReply: string | null
}

/** What one try came to; written only while the token still holds the mail. */
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
  /** Gives a claimed mail that was not tried back at once. */
  release(id: string, token: string): Promise<void>
  findById(id: string): Promise<QueuedMail | null>
  /** The latest mails, newest first. */
  listNewest(limit: number): Promise<readonly QueuedMail[]>
  /** How many wait, how many of them are due since before `overdueSince`, and how many have failed in the last week. */
  count(overdueSince: Ms): Promise<{ readonly waiting: number; readonly overdue: number; readonly failed: number }>
}

/** A finished message. */
export interface OutgoingMail {
  /** With its angle brackets; the same for every try, so that a receiver can tell a duplicate. */
  readonly messageId: string
  /** One plain address. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly date: Ms
}

/**
 * Why a mail was not taken. `refused`: the server said no for good, to this recipient or message. `deferred`: it said
 * later. `unclear`: the connection ended after the message was on its way. `server`: the server was not reached, or its
 * objection has nothing to do with this mail. `stopped`: this process cut it off.
 */
export type MailFault = 'refused' | 'deferred' | 'unclear' | 'server' | 'stopped'

export type MailResult =
  | { readonly outcome: 'sent'; readonly reply: string }
  | { readonly outcome: 'failed'; readonly fault: MailFault; readonly reason: string }

/** Hands one message to a mail server. Never throws and ends within 30 s. */
export interface MailTransport {
  send(mail: OutgoingMail): Promise<MailResult>
}

export interface MailRecord {
  /** Deterministic, so that a mail is made once. */
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
    | 'member_invited'
    | 'owner_notice'
  readonly to: string
  readonly data: Readonly<Record<string, string>>
  readonly createdAt: Ms
}

export interface MailRepository {
  /** Queues what is missing. */
  insertMany(mails: readonly MailRecord[]): Promise<void>
  /** True when one of these was ever queued and is still kept (90 days). */
  hasAny(ids: readonly string[]): Promise<boolean>
}
