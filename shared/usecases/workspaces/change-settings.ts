import { PaymeshError } from '#shared/contracts/errors.ts'
import type { WorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Logo } from '#shared/ports/logos.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { SETTINGS_ACTION, settingsAudit } from './settings-audit.ts'
import { type UpdateWorkspaceDeps, updateWorkspace, type WorkspaceChange } from './update-workspace.ts'

/** Dependencies of changing settings. */
export type ChangeSettingsDeps = Omit<UpdateWorkspaceDeps, 'workspaces'> &
  Uses<'workspaces' | 'workspaceAdmin' | 'auditSearch' | 'clock'>

/**
 * Changes the settings of a workspace if they are unchanged since `version` was read. A repeated request is done once. After a concurrent
 * change nothing is written, and `INVALID_STATE` names who changed what and when.
 */
export async function changeSettings(
  deps: ChangeSettingsDeps,
  input: {
    readonly workspaceId: string
    /** The workspace's `epoch` when it was read. */
    readonly version: number
    readonly change: Pick<WorkspaceChange, 'name' | 'policy'>
    readonly action: OperatorAction
    /** Bytes of the logo that `change` names; null removes them. */
    readonly logo?: Logo | null
  },
): Promise<Workspace> {
  const { workspaceId, version, change, action, logo } = input
  const id = changeId({ workspaceId, action })
  const update = async (_id: string, fields: Parameters<WorkspaceOperations['changeWorkspace']>[2]) => {
    const audit = settingsAudit(deps, id, { workspaceId, change, action })
    const changed = await deps.workspaceAdmin.changeWorkspace(workspaceId, version, fields, audit, logo)
    return changed ?? (await doneBefore(deps, { workspaceId, action }))
  }
  const workspaces = { findById: deps.workspaces.findById, update }
  return await updateWorkspace({ ...deps, workspaces }, { workspaceId, change })
}

interface ChangeKey {
  readonly workspaceId: string
  readonly action: OperatorAction
}

/**
 * Null while the workspace is at `version`, so that work for a change may begin. Otherwise the workspace, if this operation changed it
 * earlier; throws `INVALID_STATE` as `changeSettings` does if another one did.
 */
export async function earlierChange(
  deps: Pick<ChangeSettingsDeps, 'workspaces' | 'auditSearch'>,
  { version, ...key }: ChangeKey & { readonly version: number },
): Promise<Workspace | null> {
  const workspace = await deps.workspaces.findById(key.workspaceId)
  return workspace?.epoch === version ? null : await doneBefore(deps, key)
}

const changeId = ({ workspaceId, action }: ChangeKey): string => `settings:${workspaceId}:${action.opId}`

/** The workspace of a change that this operation made earlier. Throws `INVALID_STATE` with the latest change when another one did. */
async function doneBefore(
  deps: Pick<ChangeSettingsDeps, 'workspaces' | 'auditSearch'>,
  key: ChangeKey,
): Promise<Workspace | null> {
  const changes = await latestChanges(deps, key.workspaceId)
  if (changes.some((row) => row.id === changeId(key))) return await deps.workspaces.findById(key.workspaceId)
  throw conflict(changes[0] ?? null)
}

async function latestChanges(
  { auditSearch }: Pick<ChangeSettingsDeps, 'auditSearch'>,
  workspaceId: string,
): Promise<readonly AuditRecord[]> {
  const rows = await auditSearch.search({ workspaceId, subject: workspaceId }, null, 20)
  return rows.filter(({ action }) => action === SETTINGS_ACTION)
}

function conflict(latest: AuditRecord | null): PaymeshError {
  const who = latest === null ? 'Somebody' : latest.actor.replace(/^user:/, '')
  const what = latest === null ? 'the settings' : String(latest.detail['changed'] ?? 'the settings')
  const when = latest === null ? 'meanwhile' : `at ${mailTime(latest.at)}`
  const message = `${who} changed ${what} ${when}. Your changes were not saved. Review the current values and try again.`
  return new PaymeshError('INVALID_STATE', { message, details: [{ path: 'version', message: 'is not the latest' }] })
}
