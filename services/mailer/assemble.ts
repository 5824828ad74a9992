import type { ServiceParts, Stop } from '#services/context.ts'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import type { MailQueue } from '#shared/db/mails/mail-queue.ts'
import type { MailTransport } from '#shared/ports/mail-transport.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { createMailSender } from '#shared/usecases/mails/send-mails.ts'

/** On stop, a mail server that has not responded by then is cut off; its mail is sent again under the same Message-ID. */
const STOP_GRACE_MS = 3_000

/** The parts of the `mailer` process. */
export interface MailerParts extends Omit<ServiceParts, 'mails'> {
  /** Mails with their sealed content decrypted. */
  readonly mails: MailQueue
  /** Null: mails wait. */
  readonly transport: MailTransport | null
  /** Closes connections to the mail server. Safe to call twice. */
  closeTransport(): void
  readonly from: MailAddress
}

/** Runs the mail sender on a worker of its queue. Stopping closes the transport. */
export function assembleMailer(parts: MailerParts): Stop {
  const { outboundPause, closeTransport } = parts
  const sender = createMailSender(parts)
  const worker = parts.startWorker({
    ...WORKERS.mail,
    handle: async (mailId) => ((await outboundPause.isPaused()) ? null : sender.send(mailId)),
    sweep: async () => {
      const due = await sender.overdue()
      // Mostly nothing is due, and then nothing has to wait.
      return due.length > 0 && (await outboundPause.isPaused()) ? [] : due
    },
  })
  return async () => {
    sender.stop()
    const cutOff = parts.after(STOP_GRACE_MS, closeTransport)
    await worker.stop()
    cutOff()
    closeTransport()
  }
}
