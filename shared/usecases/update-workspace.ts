import { PaymeshError } from '#shared/contracts/errors.ts'
import { validEmail, validName } from './create-workspace.ts'
import type { EpochStore, Workspace, WorkspaceRepository } from './ports/tenancy.ts'

/** What changing a workspace needs. */
export interface UpdateWorkspaceDeps {
  readonly workspaces: Pick<WorkspaceRepository, 'findById' | 'update'>
  readonly epochs: Pick<EpochStore, 'setWorkspaceEpoch'>
}

/** Fields to change; limits that are left out stay as they are. */
export interface WorkspaceChange {
  readonly name?: string
  readonly ownerEmail?: string
  readonly status?: Workspace['status']
  readonly limits?: Partial<Workspace['limits']>
  readonly policy?: Partial<Workspace['policy']>
}

/**
 * Changes a workspace. When it resolves, no API process acts on the old record any more: the store is written first,
 * then the epoch that makes cached records outdated. Throws `NOT_FOUND` or `VALIDATION_ERROR`.
 */
export async function updateWorkspace(
  deps: UpdateWorkspaceDeps,
  input: { readonly workspaceId: string; readonly change: WorkspaceChange },
): Promise<Workspace> {
  const current = await deps.workspaces.findById(input.workspaceId)
  if (current === null) throw new PaymeshError('NOT_FOUND')
  const { name, ownerEmail, status, limits, policy } = input.change
  const updated = await deps.workspaces.update(input.workspaceId, {
    ...(name !== undefined && { name: validName(name) }),
    ...(ownerEmail !== undefined && { ownerEmail: validEmail(ownerEmail) }),
    ...(status !== undefined && { status }),
    ...(limits !== undefined && { limits: checkedLimits({ ...current.limits, ...limits }) }),
    ...(policy !== undefined && { policy: { ...current.policy, ...policy } }),
  })
  if (updated === null) throw new PaymeshError('NOT_FOUND')
  await deps.epochs.setWorkspaceEpoch(updated.id, updated.epoch)
  return updated
}

function checkedLimits(limits: Workspace['limits']): Workspace['limits'] {
  const faults = Object.entries(limits).filter(
    ([, limit]) => limit !== null && !(Number.isInteger(limit) && limit >= 0),
  )
  if (faults.length === 0) return limits
  throw new PaymeshError('VALIDATION_ERROR', {
    details: faults.map(([path]) => ({ path: `limits.${path}`, message: 'Must be a whole number from 0.' })),
  })
}
