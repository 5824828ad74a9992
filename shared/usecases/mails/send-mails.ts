import { createHash } from 'node:crypto'
import { isMailAddress, type MailAddress } from '#shared/contracts/mail-address.ts'
import type { MailQueue } from '#shared/db/mails/mail-queue.ts'
import type { MailOutcome, QueuedMail } from '#shared/ports/mail-queue.ts'
import type { MailFault, MailResult, MailTransport } from '#shared/ports/mail-transport.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { renderMail } from './render-mail.ts'

/** Longer than the transport's deadline of 30 s, with time to write the outcome. */
const LEASE_MS = 60_000
/** Pauses after counted tries; with the first try ten in 70 h, then the mail has failed. */
export const MAIL_RETRY_DELAYS_MS = [1, 5, 15, 60, 180, 360, 720, 1_440, 1_440].map((minutes) => minutes * 60_000)
/** An unreachable server is retried at this interval, without limit. */
const SERVER_RETRY_MS = 30_000
/** After a server failure this process pauses instead of retrying for each mail. */
const SERVER_PAUSE_MS = 5_000
/** A mail that has been due for this long was missed by its wake-up. */
const OVERDUE_MS = 1_000
/** How far ahead the sweep schedules wake-ups. */
const AHEAD_MS = 2_500
const SWEEP_LIMIT = 200
/** A mail claimed more often than this without an outcome is suspected to crash its sender. */
const POISON_CLAIMS = 20

export type SendMailsDeps = Runtime &
  Uses<'notifier' | 'after'> & {
    readonly mails: Pick<MailQueue, 'due' | 'claim' | 'finish' | 'release'>
    /** Null while no mail server is configured: mails then wait unchanged. */
    readonly transport: MailTransport | null
    /** Its domain is the right side of every Message-ID. */
    readonly from: MailAddress
  }

/** Identity of a mail on the wire, the same for every try. */
export function mailMessageId(mailId: string, from: MailAddress): string {
  const digest = createHash('sha256').update(mailId).digest('hex').slice(0, 32)
  return `<${digest}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`
}

/** A sender that does nothing until it is called. */
export function createMailSender(deps: SendMailsDeps) {
  const { clock, metrics, notifier } = deps
  const wakeUps = new Map<string, () => void>()
  let quietUntil = 0

  const wakeAt = (id: string, delayMs: number): void => {
    if (wakeUps.has(id)) return
    const cancel = deps.after(delayMs, () => {
      wakeUps.delete(id)
      notifier.notify(QUEUES.mail, id)
    })
    wakeUps.set(id, cancel)
  }

  return {
    /** Claims the mail if it is due, tries it once and records the outcome. Safe to repeat. */
    send: async (mailId: string): Promise<void> => {
      if (deps.transport === null || clock.now() < quietUntil) return
      const token = deps.random.uuid()
      const mail = await deps.mails.claim(mailId, token, LEASE_MS)
      if (mail === null) return
      const result = await attempt(deps, deps.transport, mail)
      if (result.outcome === 'failed' && result.fault === 'stopped') {
        await deps.mails.release(mail.id, token)
        return
      }
      const fault = result.outcome === 'sent' ? null : result.fault
      if (fault === 'server') quietUntil = clock.now() + SERVER_PAUSE_MS
      const outcome = outcomeOf(mail, token, result, clock.now())
      const recorded = await deps.mails.finish(outcome)
      report(deps, mail, outcome, fault, recorded)
    },

    /** Mails without a wake-up; schedules wake-ups for those due within the next seconds. */
    overdue: async (): Promise<readonly string[]> => {
      const now = clock.now()
      const due = await deps.mails.due(now + AHEAD_MS, SWEEP_LIMIT)
      metrics.gauge('mail_oldest_due_age_seconds', Math.max(0, now - (due[0]?.dueAt ?? now)) / 1_000)
      if (deps.transport === null || now < quietUntil) return []
      for (const { id, dueAt } of due) if (dueAt > now - OVERDUE_MS) wakeAt(id, Math.max(0, dueAt - now))
      return due.filter(({ dueAt }) => dueAt <= now - OVERDUE_MS).map(({ id }) => id)
    },

    /** Schedules no more wake-ups. */
    stop: (): void => {
      for (const cancel of wakeUps.values()) cancel()
      wakeUps.clear()
    },
  }
}

/** A mail that cannot be rendered because of a bug is retried like a deferred one: a fixed release sends it. */
async function attempt(deps: SendMailsDeps, transport: MailTransport, mail: QueuedMail): Promise<MailResult> {
  if (mail.claims - mail.attempt > POISON_CLAIMS) deps.metrics.count('mail_poison_total')
  if (!isMailAddress(mail.to)) return { outcome: 'failed', fault: 'refused', reason: 'not a plain email address' }
  try {
    const messageId = mailMessageId(mail.id, deps.from)
    return await transport.send({ ...renderMail(mail), messageId, to: mail.to, date: mail.createdAt })
  } catch (error) {
    deps.logger.error({ err: error, mailId: mail.id }, 'an email could not be rendered')
    return {
      outcome: 'failed',
      fault: 'deferred',
      reason: 'the email could not be rendered; see the log of the mailer',
    }
  }
}

function outcomeOf(mail: QueuedMail, leaseToken: string, result: MailResult, at: number): MailOutcome {
  const base = { mailId: mail.id, leaseToken, at }
  if (result.outcome === 'sent') return { ...base, result: 'sent', counts: true, dueAt: null, reply: result.reply }
  const { fault, reason: reply } = result
  if (fault === 'refused') return { ...base, result: 'failed', counts: true, dueAt: null, reply }
  if (fault === 'server') return { ...base, result: 'retry', counts: false, dueAt: at + SERVER_RETRY_MS, reply }
  const delay = MAIL_RETRY_DELAYS_MS[mail.attempt]
  if (delay === undefined) return { ...base, result: 'failed', counts: true, dueAt: null, reply }
  return { ...base, result: 'retry', counts: true, dueAt: at + delay, reply }
}

function report(
  { logger, metrics }: SendMailsDeps,
  { id, template }: QueuedMail,
  { result, reply }: MailOutcome,
  fault: MailFault | null,
  recorded: boolean,
): void {
  metrics.count('mails_total', { result: recorded ? result : 'lease_lost', fault: fault ?? 'none' })
  const fields = { mailId: id, template, result, fault, recorded }
  if (result === 'sent') logger.info(fields, 'mail sent')
  else logger.warn({ ...fields, reason: reply }, 'mail not taken')
}
