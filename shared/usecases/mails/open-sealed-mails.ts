import type { MailQueue, QueuedMail } from '#shared/ports/mails.ts'
import { mailContext, type SecretBox } from '#shared/ports/secrets.ts'

const SEALED = '_sealed'

/**
 * The same mails with their sealed values opened: what only the reader of a mail may know, such as a link that lets in, lies in the
 * store as `<name>_sealed` under the mail's own id. A value that cannot be opened stays away, and the mail is not made.
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
