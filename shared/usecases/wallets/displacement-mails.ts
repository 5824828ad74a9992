import { createHash } from 'node:crypto'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { DisplacedUse, ProofWrite } from '#shared/ports/ownership.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of mailing the owners of both sides. */
export type DisplacementMailDeps = Uses<'workspaces'> & {
  ownersOf(workspaceId: string): Promise<readonly string[]>
}

/**
 * Mails about a proof that displaces others: to every owner of the workspaces that lose addresses and of the one that proved them. Neither
 * mail names the other workspace. `auditId` makes them unique.
 */
export async function displacementMails(
  deps: DisplacementMailDeps,
  { displaced, workspaceId, family, rows, isKey, provedAt }: ProofWrite,
  auditId: string,
): Promise<readonly MailRecord[]> {
  if (displaced.length === 0) return []
  const ids = [workspaceId, ...displaced.map((use) => use.workspaceId)]
  const names = new Map((await deps.workspaces.findMany(ids)).map(({ id, name }) => [id, name]))
  const mailsTo = async (id: string, template: MailRecord['template'], about: Record<string, string>) => {
    const owners = [...new Set(await deps.ownersOf(id))]
    return owners.map((to, place): MailRecord => {
      const data = { workspace: names.get(id) ?? '', family, ...about }
      // Mail programs show the key, and the id of the action would reveal the other workspace.
      const key = createHash('sha256').update(`${auditId}:${template}:${id}:${place}`).digest('hex').slice(0, 40)
      return { id: `${template}:${key}`, workspaceId: id, template, to, data, createdAt: provedAt }
    })
  }
  const lost = displaced.map((use) =>
    mailsTo(use.workspaceId, 'address_displaced', { what: labelsFor(use), addresses: use.addresses.join(', ') || '-' }),
  )
  const shown = rows.slice(0, 3).map(({ address }) => address)
  const what = labelsFor({ isKey, count: rows.length })
  const won = mailsTo(workspaceId, 'address_proved', { what, addresses: shown.join(', ') })
  return (await Promise.all([...lost, won])).flat()
}

function labelsFor({ isKey, count }: Pick<DisplacedUse, 'isKey' | 'count'>): string {
  if (isKey) return 'an extended public key'
  return count === 1 ? 'one address' : `${count} addresses`
}
