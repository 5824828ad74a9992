import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { MailRecord } from '#shared/ports/mails.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { PeopleDeps } from './account-deps.ts'

type Detail = AuditRecord['detail']

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

/** A mail to a person about their own account; it belongs to no workspace. */
export function accountMail(
  { clock, random }: Pick<PeopleDeps, 'clock' | 'random'>,
  template: MailRecord['template'],
  to: string,
  data: MailRecord['data'],
): MailRecord {
  return { id: random.uuid(), workspaceId: '', template, to, data, createdAt: clock.now() }
}

/** Wakes the mailer after mails were stored. */
export function notifyMailer({ notifier }: Pick<PeopleDeps, 'notifier'>, mails: readonly MailRecord[]): void {
  for (const { id } of mails) notifier.notify(QUEUES.mail, id)
}
