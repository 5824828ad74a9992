import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AuditRecord, AuditSearch } from '#shared/ports/audit.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { TenancyDeeds, Workspace } from '#shared/ports/workspaces.ts'
import type { Deed } from '#shared/usecases/audit/deed.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { SETTINGS_ACTION, settingsAudit } from './settings-audit.ts'
import { type UpdateWorkspaceDeps, updateWorkspace, type WorkspaceChange } from './update-workspace.ts'

/** What changing settings needs. */
export interface ChangeSettingsDeps extends Omit<UpdateWorkspaceDeps, 'workspaces'> {
  readonly workspaces: Pick<UpdateWorkspaceDeps['workspaces'], 'findById'>
  readonly tenancy: Pick<TenancyDeeds, 'changeWorkspace'>
  readonly auditSearch: AuditSearch
  readonly clock: Clock
}

/**
 * Changes the settings of a workspace as they were when `version` was read. Sent twice it is done once. When somebody was faster
 * nothing is changed, and `INVALID_STATE` says who changed what and when.
 */
export async function changeSettings(
  deps: ChangeSettingsDeps,
  input: {
    readonly workspaceId: string
    /** The workspace's `epoch` as it was read. */
    readonly version: number
    readonly change: Pick<WorkspaceChange, 'name' | 'policy'>
    readonly deed: Deed
  },
): Promise<Workspace> {
  const { workspaceId, version, change, deed } = input
  const id = `settings:${workspaceId}:${deed.opId}`
  const update = async (_id: string, fields: Parameters<TenancyDeeds['changeWorkspace']>[2]) => {
    const audit = settingsAudit(deps, id, { workspaceId, change, deed })
    const changed = await deps.tenancy.changeWorkspace(workspaceId, version, fields, audit)
    if (changed !== null) return changed
    const changes = await latestChanges(deps, workspaceId)
    if (changes.some((row) => row.id === id)) return await deps.workspaces.findById(workspaceId)
    throw conflict(changes[0] ?? null)
  }
  const workspaces = { findById: deps.workspaces.findById, update }
  return await updateWorkspace({ ...deps, workspaces }, { workspaceId, change })
}

async function latestChanges(
  { auditSearch }: ChangeSettingsDeps,
  workspaceId: string,
): Promise<readonly AuditRecord[]> {
  const rows = await auditSearch.search({ workspaceId, subject: workspaceId }, null, 20)
  return rows.filter(({ action }) => action === SETTINGS_ACTION)
}

function conflict(latest: AuditRecord | null): PaymeshError {
  const who = latest === null ? 'Somebody' : latest.actor.replace(/^user:/, '')
  const what = latest === null ? 'the settings' : String(latest.detail['changed'] ?? 'the settings')
  const when = latest === null ? 'meanwhile' : `at ${mailTime(latest.at)}`
  const message = `${who} changed ${what} ${when}. Nothing of yours was saved: look at the values as they are now.`
  return new PaymeshError('INVALID_STATE', { message, details: [{ path: 'version', message: 'is not the latest' }] })
}
