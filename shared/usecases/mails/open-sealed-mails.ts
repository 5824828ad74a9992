import type { MailQueue } from '#shared/db/mails/mail-queue.ts'
import type { QueuedMail } from '#shared/ports/mail-queue.ts'
import { mailContext, type SecretBox } from '#shared/ports/secrets.ts'

const SEALED = '_sealed'

/**
 * The same mails with their sealed values decrypted: values only for the reader, such as a link that grants access, are
 * stored as `<name>_sealed` under the mail's own id. A value that cannot be decrypted is left out, and the mail is not rendered.
 */
export function openSealedMails<T extends Pick<MailQueue, 'claim' | 'findById' | 'listNewest'>>(
  mails: T,
  secretBox: Pick<SecretBox, 'open'>,
): T {
  const open = (mail: QueuedMail): QueuedMail => {
    const data = Object.entries(mail.data).flatMap(([name, value]) => {
      if (!name.endsWith(SEALED)) return [[name, value] as const]
      try {
        return [[name.slice(0, -SEALED.length), secretBox.open(value, mailContext(mail.id))] as const]
      } catch {
        return []
      }
    })
    return { ...mail, data: Object.fromEntries(data) }
  }
  const openOrNull = (mail: QueuedMail | null) => (mail === null ? null : open(mail))
  return {
    ...mails,
    claim: async (id: string, token: string, leaseMs: number) => openOrNull(await mails.claim(id, token, leaseMs)),
    findById: async (id: string) => openOrNull(await mails.findById(id)),
    listNewest: async (limit: number) => (await mails.listNewest(limit)).map(open),
  }
}
