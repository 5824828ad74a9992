import type { ServiceContext, StartService } from '#services/context.ts'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { createOutboundPause } from '#shared/db/restore/outbound-pause.ts'
import type { MailTransport } from '#shared/ports/mails.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createMailWorker } from '#shared/queues/mail-queue.ts'
import { createSmtpTransport } from '#shared/runtime/http/smtp-transport.ts'
import { after } from '#shared/runtime/process/after.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { createMailSender } from '#shared/usecases/mails/send-mails.ts'
import { startMailbox } from './mailbox.ts'

/** On stop, a mail server that has not answered by then is cut off; its mail is sent again under the same Message-ID. */
const STOP_GRACE_MS = 3_000
/** Who writes in development, where nothing leaves the machine. */
const LOCAL_SENDER: MailAddress = { name: 'Paymesh', address: 'paymesh@localhost.localdomain' }
/** Development without a mail server: what is sent is read on the mailbox page. */
const KEPT_LOCALLY: MailTransport = {
  send: () => Promise.resolve({ outcome: 'sent', reply: 'kept in the local mailbox' }),
}

/**
 * The mailer process: hands mails that wait to the mail server. Without one they wait, except in development, where they
 * count as sent and a page on 127.0.0.1 shows them.
 */
export const start: StartService = async (context) => {
  const { config, db, redis, clock, random, logger, metrics } = context
  const mails = openSealedMails(createMailQueue(db), createSecretBox(config.secrets.masterKey))
  const { transport, close } = openTransport(context)
  const from = config.mail.from ?? LOCAL_SENDER
  metrics.gauge('mail_server_configured', transport === null ? 0 : 1)
  if (transport === null) logger.warn({}, 'PAYMESH_SMTP_URL is not set: mails wait')
  const mailbox =
    config.env === 'development' ? await startMailbox({ mails, from, port: config.mail.mailboxPort }) : null
  const kicker = createKicker(redis, context)
  const outboundPause = createOutboundPause(db)
  const sender = createMailSender({ clock, random, logger, metrics, mails, transport, from, kicker, after })
  const worker = createMailWorker(redis, context, {
    send: async (mailId) => ((await outboundPause.isPaused()) ? null : sender.send(mailId)),
    overdue: async () => ((await outboundPause.isPaused()) ? [] : sender.overdue()),
  })
  return async () => {
    sender.stop()
    const cutOff = after(STOP_GRACE_MS, close)
    await Promise.all([worker.stop(), mailbox?.stop()])
    cutOff()
    close()
    await kicker.close()
  }
}

function openTransport({ config }: ServiceContext): { readonly transport: MailTransport | null; close(): void } {
  const { smtpUrl, from } = config.mail
  if (smtpUrl !== null && from !== null) {
    const smtp = createSmtpTransport({ url: smtpUrl, from })
    return { transport: smtp, close: smtp.close }
  }
  return { transport: config.env === 'development' ? KEPT_LOCALLY : null, close: () => undefined }
}
