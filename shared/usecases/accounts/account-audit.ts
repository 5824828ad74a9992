import { createHash } from 'node:crypto'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { mailContext } from '#shared/ports/secrets.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import type { Origin, PeopleDeps } from './account-deps.ts'

type Detail = AuditRecord['detail']

const HOUR_MS = 3_600_000
/** Sources that fail at one account in one hour share so many rows; the first of each is recorded. */
const FAILURE_ROWS = 16

/** The audit row of a change that a person made to their own account, or that was made to it. */
export function accountAudit(
  { clock, random }: Pick<PeopleDeps, 'clock' | 'random'>,
  actor: string,
  action: AuditAction,
  userId: string,
  detail: Detail = {},
): AuditRecord {
  return { id: random.uuid(), at: clock.now(), actor, action, subject: userId, workspaceId: null, mode: null, detail }
}

/**
 * The audit row of a failure that strangers can repeat without end: the audit log, which is kept for ever, holds at most 16 of one kind, account
 * and hour, each with the first address of its share of the sources; a further one has the id of a row that is stored already. How many
 * there were is in the metrics. `userId` is null for an unknown account.
 */
export function failureAudit(
  { clock }: Pick<PeopleDeps, 'clock'>,
  action: AuditAction,
  userId: string | null,
  { ip, group }: Pick<Origin, 'ip' | 'group'>,
): AuditRecord {
  const at = clock.now()
  const subject = userId ?? 'unknown'
  const share = createHash('sha256').update(group).digest().readUInt8(0) % FAILURE_ROWS
  const id = `${action}:${subject}:${Math.floor(at / HOUR_MS)}:${share}`
  return { id, at, actor: 'somebody', action, subject, workspaceId: null, mode: null, detail: { ip } }
}

/** A mail to a person about their own account; it belongs to no workspace. */
export function accountMail(
  { clock, random }: Pick<PeopleDeps, 'clock' | 'random'>,
  template: MailRecord['template'],
  to: string,
  data: MailRecord['data'],
): MailRecord {
  return { id: random.uuid(), workspaceId: '', template, to, data, createdAt: clock.now() }
}

/** A mail that tells a person what was done to their account, in a sentence. */
export function changedMail(deps: Pick<PeopleDeps, 'clock' | 'random'>, email: string, what: string): MailRecord {
  return accountMail(deps, 'account_changed', email, { email, time: mailTime(deps.clock.now()), what })
}

/** A mail with a link, which is sealed until it is sent. What is secret of it stands after its `#`, which no server receives and no log contains. */
export function linkMail(
  deps: Pick<PeopleDeps, 'clock' | 'random' | 'secretBox'>,
  template: MailRecord['template'],
  to: string,
  data: MailRecord['data'],
  url: string,
): MailRecord {
  const mail = accountMail(deps, template, to, data)
  return { ...mail, data: { ...data, url_sealed: deps.secretBox.seal(url, mailContext(mail.id)) } }
}

/** Wakes the mailer after mails were stored. */
export function notifyMailer({ notifier }: Pick<PeopleDeps, 'notifier'>, mails: readonly MailRecord[]): void {
  for (const { id } of mails) notifier.notify(QUEUES.mail, id)
}
