import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { MAILS, type MailRecord } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'

/** The web address in the newest mail of a kind to a person on the installation of a data folder. Throws without such a mail. */
export async function mailedLink(dataDir: string, to: string, template: MailRecord['template']): Promise<string> {
  const { stores, secrets } = parseConfig(readEnvironment(dataDir) ?? {})
  const logger = createLogger({ name: 'mailed-link', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  try {
    const [stored] = await db.collection(MAILS).find({ to, template }).sort({ createdAt: -1 }).limit(1).toArray()
    const queue = openSealedMails(createMailQueue(db), createSecretBox(secrets.masterKey))
    const mail = await queue.findById(stored?._id ?? '')
    const link = mail === null ? null : /https?:\/\/\S+#\S{43}/.exec(renderMail(mail).text)
    if (link === null) throw new Error(`${to} has no mail ${template}`)
    return link[0]
  } finally {
    await db.close()
  }
}
