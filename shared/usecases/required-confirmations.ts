import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Catalog } from './ports/catalog.ts'
import type { WorkspacePolicy } from './ports/tenancy.ts'

/** Confirmations that a lock made now would ask for: the workspace's own figure, else the network's in this mode. */
export function requiredConfirmations(
  catalog: Pick<Catalog, 'confirmations'>,
  policy: Pick<WorkspacePolicy, 'confirmations'>,
  asset: AssetId,
  mode: Mode,
): number {
  const own = policy.confirmations[asset]
  return own === undefined || own === 'finalized' ? catalog.confirmations(asset, mode) : own
}
