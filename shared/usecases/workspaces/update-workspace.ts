import type { GivenConfirmations } from '#shared/contracts/confirmation-text.ts'
import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { Workspace, WorkspacePolicy } from '#shared/ports/workspaces.ts'
import { checkedConfirmations } from '#shared/usecases/quotes/price-quote.ts'
import type { Store, Uses } from '#shared/usecases/uses.ts'
import { validEmail, validName } from './valid-name.ts'

/** Dependencies of changing a workspace. */
export type UpdateWorkspaceDeps = Uses<'catalog'> & {
  readonly workspaces: Pick<Store['workspaces'], 'findById' | 'update'>
  readonly epochs: Pick<EpochStore, 'setWorkspaceEpoch'>
}

/** Fields to change; omitted limits stay unchanged. */
export interface WorkspaceChange {
  readonly name?: string
  readonly ownerEmail?: string
  readonly status?: Workspace['status']
  readonly limits?: Partial<Workspace['limits']>
  readonly policy?: Partial<Omit<WorkspacePolicy, 'confirmations'>> & {
    /** By asset id; null removes the workspace's own figure, omitted assets stay unchanged. */
    readonly confirmations?: Readonly<Record<string, GivenConfirmations | null>>
  }
}

/** Somebody else would have to change the workspace as often within this many round trips to the store. */
const TRIES = 10

/**
 * Changes a workspace, also while others change it: what is not given stays as the latest of them left it. Once it resolves, no API process
 * uses the old record any more: the store is written first, with the audit row if one is given, then the epoch that outdates cached
 * records. Throws `NOT_FOUND` or `VALIDATION_ERROR`, and `INVALID_STATE` when the workspace changes all the time.
 */
export async function updateWorkspace(
  deps: UpdateWorkspaceDeps,
  input: { readonly workspaceId: string; readonly change: WorkspaceChange; readonly audit?: AuditRecord },
): Promise<Workspace> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const current = await deps.workspaces.findById(input.workspaceId)
    if (current === null) throw new PaymeshError('NOT_FOUND')
    const fields = changedFields(deps, current, input.change)
    const updated = await deps.workspaces.update(input.workspaceId, fields, input.audit, current.epoch)
    if (updated === null) continue
    await deps.epochs.setWorkspaceEpoch(updated.id, updated.epoch)
    return updated
  }
  throw invalidState('Others are changing this workspace. Try again.')
}

function changedFields(
  deps: UpdateWorkspaceDeps,
  current: Workspace,
  { name, ownerEmail, status, limits, policy }: WorkspaceChange,
): Partial<Workspace> {
  return {
    ...(name !== undefined && { name: validName(name) }),
    ...(ownerEmail !== undefined && { ownerEmail: validEmail(ownerEmail) }),
    ...(status !== undefined && { status }),
    ...(limits !== undefined && { limits: checkedLimits({ ...current.limits, ...limits }) }),
    ...(policy !== undefined && { policy: changedPolicy(deps, current.policy, policy) }),
  }
}

function changedPolicy(
  { catalog }: UpdateWorkspaceDeps,
  current: WorkspacePolicy,
  change: NonNullable<WorkspaceChange['policy']>,
): WorkspacePolicy {
  const { confirmations = {}, ...others } = change
  const given = Object.entries(confirmations).filter(
    (entry): entry is [string, GivenConfirmations] => entry[1] !== null,
  )
  const kept = Object.entries(current.confirmations).filter(([asset]) => !(asset in confirmations))
  return {
    ...current,
    ...others,
    confirmations: Object.fromEntries([
      ...kept,
      ...Object.entries(checkedConfirmations(catalog, Object.fromEntries(given))),
    ]),
  }
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
