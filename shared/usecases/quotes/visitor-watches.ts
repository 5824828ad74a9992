import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { NodePrices } from '#shared/ports/node-usage.ts'
import type { WorkspacePolicy } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const MONTH_MS = 30 * 86_400_000

/** Dependencies of the number of visitors' watches. */
export type VisitorWatchesDeps = Uses<'catalog'> & { readonly nodePrices: Pick<NodePrices, 'quota' | 'unitsOf'> }

/**
 * How many watches all visitors together may have open on a network at a time: so many that, were each opened again as soon as it ends for a
 * whole month, they would use half of the quota of a network that is read for open invoices alone. Without a quota, and where every
 * block is read whoever waits, a fixed number. Quotes of another length change it with them, up to ten times: the sooner they end, the more often each is opened.
 */
export function visitorWatches(
  { catalog, nodePrices }: VisitorWatchesDeps,
  mode: Mode,
  network: NetworkId,
  { quoteMs }: Pick<WorkspacePolicy, 'quoteMs'>,
): number {
  const { total, quotaPercent, callsOfOne, usualMs, longestTimes, min } = SCARCE.openWatches.budget
  const quota = nodePrices.quota(mode, network)
  const isRationed = quota !== null && catalog.scanChoice(network, mode)?.source === 'thrifty'
  const unitsOfOne = quota === null ? 0 : callsOfOne * nodePrices.unitsOf(quota.unit, network, 'eth_call')
  const inMonth = quota === null ? 0 : (quota.perMonth * quotaPercent) / 100 / unitsOfOne
  const places = isRationed ? inMonth / (MONTH_MS / usualMs) : total
  return Math.max(min, Math.floor(places * Math.min(longestTimes, quoteMs / usualMs)))
}

/** How many of them one connection may have. */
export function sourceWatches(everybody: number): number {
  return Math.max(1, Math.floor(everybody / SCARCE.openWatches.budget.part))
}
