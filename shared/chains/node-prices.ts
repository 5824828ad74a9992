import { factsOf, unitsOfCall } from '#shared/domain/nodes/providers.ts'
import type { NodePrices } from '#shared/ports/node-usage.ts'
import type { NetworkSettings, QuotaSettings } from './definitions/chain.ts'
import { CHAINS } from './definitions/registry.ts'

/** Prices of the known providers and the quotas of the settings. Answers from memory. */
export function createNodePrices(networks: NetworkSettings): NodePrices {
  const quota: NodePrices['quota'] = (mode, network) => networks[mode][network]?.quota ?? null
  const counts: NodePrices['counts'] = (mode, network, provider) => isCounted(networks[mode][network]?.quota, provider)
  return {
    unitOf: (mode, network, provider) => {
      const own = factsOf(provider)?.unit
      if (own !== undefined) return own
      return counts(mode, network, provider) ? (quota(mode, network)?.unit ?? 'calls') : 'calls'
    },
    unitsOf: (unit, network, method) => unitsOfCall(unit, CHAINS[network].family, method),
    logRangeMax: (provider) => factsOf(provider)?.logRangeMax ?? null,
    quota,
    counts,
  }
}

/** Whether calls to a provider, by its name as `providerOf` gives it, count against a quota; false without one. */
export function isCounted(quota: QuotaSettings | null | undefined, provider: string): boolean {
  if (quota == null) return false
  const { unit, hosts = [] } = quota
  if (hosts.includes(provider) || unit === provider) return true
  return unit === 'calls' && hosts.length === 0
}
