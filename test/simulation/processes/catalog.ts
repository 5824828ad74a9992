import { createCatalog } from '#shared/chains/catalog.ts'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Sim } from '../world/sim.ts'

/** Confirmations that a network asks for in the simulation: small, so that reorganisations reach below them. */
export const CONFIRMATIONS = { bitcoin: 2, ethereum: 4 } as const

/** The product's own catalog for the networks that this seed has nodes for. */
export function simCatalog(sim: Sim): Catalog {
  const networks: Record<'live' | 'test', Partial<Record<'bitcoin' | 'ethereum', NodeSettings>>> = {
    live: {},
    test: {},
  }
  for (const { mode, network } of sim.chains.values()) {
    if (network !== 'bitcoin' && network !== 'ethereum') continue
    networks[mode][network] = {
      rpcUrls: ['http://node.test'],
      chainId: network === 'ethereum' ? (mode === 'live' ? 1 : 31_337) : null,
      confirmations: CONFIRMATIONS[network],
    }
  }
  return createCatalog(networks)
}
