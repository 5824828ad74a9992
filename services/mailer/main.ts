import type { ServiceContext, StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import type { MailTransport } from '#shared/ports/mail-transport.ts'
import { createSmtpTransport } from '#shared/runtime/http/smtp-transport.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { assembleMailer } from './assemble.ts'
import { startMailbox } from './mailbox.ts'

/** Sender in development, where no mail leaves the machine. */
const LOCAL_SENDER: MailAddress = { name: 'Paymesh', address: 'paymesh@localhost.localdomain' }
/** Development without a mail server: mails are shown on the mailbox page. */
const KEPT_LOCALLY: MailTransport = {
  send: () => Promise.resolve({ outcome: 'sent', reply: 'kept in the local mailbox' }),
}

/**
 * The mailer process: passes waiting mails to the mail server. Without one they wait, except in development, where they
 * count as sent and a page on 127.0.0.1 shows them.
 */
export const start: StartService = async (context) => {
  const { config, logger, metrics } = context
  const parts = openParts(context)
  const mails = openSealedMails(parts.mailQueue, createSecretBox(config.secrets.masterKey))
  const { transport, close } = openTransport(context)
  const from = config.mail.from ?? LOCAL_SENDER
  metrics.gauge('mail_server_configured', transport === null ? 0 : 1)
  if (transport === null) logger.warn({}, 'PAYMESH_SMTP_URL is not set: mails wait')
  const mailbox =
    config.env === 'development' ? await startMailbox({ mails, from, port: config.mail.mailboxPort }) : null
  const stop = assembleMailer({ ...parts, mails, transport, closeTransport: close, from })
  return async () => {
    await Promise.all([stop(), mailbox?.stop()])
    await parts.notifier.close()
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
