import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type NodeCostDeps, nodeCosts } from './node-costs.ts'

/** The ledger of calls is read at most this often. */
const EVERY_MS = 300_000

/**
 * Whether the quota of a network is nearly used up (95 % of this month's). False without a quota, and when the ledger cannot be read: a pace
 * is never slowed down by a guess. At most one read in five minutes.
 */
export function createQuotaWatch(deps: NodeCostDeps, mode: Mode, network: NetworkId): () => Promise<boolean> {
  let known: { readonly at: Ms; readonly isCritical: boolean } | null = null
  return async () => {
    if (deps.nodePrices.quota(mode, network) === null) return false
    const now = deps.clock.now()
    if (known !== null && now >= known.at && now - known.at < EVERY_MS) return known.isCritical
    const isCritical = await levelOf(deps, mode, network)
    known = { at: now, isCritical }
    return isCritical
  }
}

async function levelOf(deps: NodeCostDeps, mode: Mode, network: NetworkId): Promise<boolean> {
  try {
    const { quotas } = await nodeCosts(deps)
    return quotas.some((quota) => quota.mode === mode && quota.network === network && quota.level === 'critical')
  } catch {
    return false
  }
}
