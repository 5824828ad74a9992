import { confirmationsText } from '#shared/contracts/confirmation-text.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { WorkspaceChange } from './update-workspace.ts'

/** The action of every change of a workspace. */
export const SETTINGS_ACTION = 'workspace.settings_changed'

/** The audit row of a workspace change: the changed fields and their values. */
export function settingsAudit(
  { clock }: { readonly clock: Pick<Clock, 'now'> },
  id: string,
  {
    workspaceId,
    change,
    action: { actor, reason },
  }: { readonly workspaceId: string; readonly change: WorkspaceChange; readonly action: OperatorAction },
): AuditRecord {
  const { policy = {}, limits = {}, ...rest } = change
  const { confirmations = {}, logo, ...others } = policy
  const plain = logo === undefined ? others : { ...others, logo: logo?.hash ?? null }
  const values = Object.entries({ ...rest, ...limits, ...plain }).map(([name, value]) => [name, value ?? null] as const)
  const tiers = Object.entries(confirmations).map(
    ([asset, value]) => [`confirmations.${asset}`, value === null ? null : confirmationsText(value)] as const,
  )
  const given = Object.fromEntries([...values, ...tiers])
  const detail = { changed: Object.keys(given).join(', '), ...given, ...reasonOf({ reason }) }
  return { id, at: clock.now(), actor, action: SETTINGS_ACTION, subject: workspaceId, workspaceId, mode: null, detail }
}
