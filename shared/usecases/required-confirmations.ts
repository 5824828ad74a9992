import { PaymeshError } from '#shared/contracts/errors.ts'
import { ASSET_IDS, type AssetId, type Mode } from '#shared/domain/enumerations.ts'
import type { Catalog } from './ports/catalog.ts'
import type { WorkspacePolicy } from './ports/tenancy.ts'

/** As for a network in the settings of an installation: more than a week of blocks on Bitcoin means a slip of the pen. */
const CONFIRMATIONS_MAX = 10_000

/** Confirmations that a lock made now would ask for, and whether its block must also be final as the chain itself says. */
export interface RequiredConfirmations {
  readonly confirmations: number
  readonly finality: boolean
}

/**
 * The workspace's own figure for an asset, else the network's in this mode. A stored figure that no payment could ever meet,
 * or that any payment meets at once, counts as not given.
 */
export function requiredConfirmations(
  catalog: Pick<Catalog, 'asset' | 'confirmations' | 'knowsFinality'>,
  policy: Pick<WorkspacePolicy, 'confirmations'>,
  asset: AssetId,
  mode: Mode,
): RequiredConfirmations {
  const own = policy.confirmations[asset]
  const given = own !== undefined && faultOf(catalog, asset, own) === null ? own : null
  return {
    confirmations: typeof given === 'number' ? given : catalog.confirmations(asset, mode),
    finality: given === 'finalized',
  }
}

/** Passes confirmations by asset id through; throws `VALIDATION_ERROR` that names each one that cannot be asked for, and why. */
export function checkedConfirmations(
  catalog: Pick<Catalog, 'asset' | 'knowsFinality'>,
  confirmations: WorkspacePolicy['confirmations'],
): WorkspacePolicy['confirmations'] {
  const faults = Object.entries(confirmations).flatMap(([asset, value]) => {
    const message = faultOf(catalog, asset, value)
    return message === null ? [] : [{ path: `policy.confirmations.${asset}`, message }]
  })
  if (faults.length === 0) return confirmations
  throw new PaymeshError('VALIDATION_ERROR', { details: faults })
}

/** Why this cannot be asked for; null when it can. What comes from a store may be anything. */
function faultOf(catalog: Pick<Catalog, 'asset' | 'knowsFinality'>, asset: string, value: unknown): string | null {
  const id = ASSET_IDS.find((known) => known === asset)
  if (id === undefined) return 'There is no such asset.'
  if (value === 'finalized') {
    const { network } = catalog.asset(id)
    return catalog.knowsFinality(network)
      ? null
      : `Blocks of ${network} are never final: nothing would ever confirm. Ask for a number of confirmations.`
  }
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= CONFIRMATIONS_MAX
  return isCount ? null : `Must be a whole number from 1 to ${CONFIRMATIONS_MAX}, or "finalized".`
}
