import type { AuditRecord } from '#shared/ports/audit.ts'
import type { MailRecord } from '#shared/ports/mails.ts'
import type { WorkspaceRepository } from '#shared/ports/workspaces.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { describeChange } from './describe-change.ts'

/** What mails to owners are made from. */
export interface OwnerNoticeDeps {
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
  /** Mail addresses of everybody who owns a workspace. */
  ownersOf(workspaceId: string): Promise<readonly string[]>
}

/**
 * The mails about one change: to every owner of its workspace, as they are before it, and to the person whom it concerns. Their ids
 * follow from the id of the audit row, so that a repetition has the same ones. `from` is the address that the request came from.
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
