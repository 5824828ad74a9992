import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { describeChange } from './describe-change.ts'

/** Dependencies of mails to owners. */
export type OwnerNoticeDeps = Uses<'workspaces'> & {
  /** E-mail addresses of all owners of a workspace. */
  ownersOf(workspaceId: string): Promise<readonly string[]>
}

/**
 * The mails about one change: to every owner of its workspace before the change, and to the affected person. Their ids
 * are derived from the id of the audit row, so that a repetition has the same ones. `from` is the address of the request.
 */
export async function ownerNotices(
  deps: OwnerNoticeDeps,
  { audit, from, to = [] }: { readonly audit: AuditRecord; readonly from: string; readonly to?: readonly string[] },
): Promise<readonly MailRecord[]> {
  const workspaceId = audit.workspaceId ?? ''
  const [workspace, owners] = await Promise.all([deps.workspaces.findById(workspaceId), deps.ownersOf(workspaceId)])
  const { headline, sentence } = describeChange(audit)
  const data = {
    ...{ workspace: workspace?.name ?? 'your workspace', headline, sentence, from },
    actor: audit.actor.replace(/^user:/, ''),
    time: mailTime(audit.at),
    reason: String(audit.detail['reason'] ?? '-'),
  }
  const everybody = [...new Set([...owners, ...to])]
  return everybody.map((address, place) => {
    const id = `${audit.id}:owner:${place}`
    return { id, workspaceId, template: 'owner_notice', to: address, data, createdAt: audit.at }
  })
}
