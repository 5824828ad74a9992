import { createCatalog } from '#shared/chains/catalog.ts'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Sim } from '../world/sim.ts'

/** Confirmations that a network asks for in the simulation: small, so that reorganisations reach below them. */
export const CONFIRMATIONS = { bitcoin: 2, ethereum: 4 } as const

/** The product's own catalog for the networks that this seed has nodes for. */
export function simCatalog(sim: Sim): Catalog {
  const networks = { live: {}, test: {} } as {
    -readonly [M in 'live' | 'test']: { -readonly [N in NetworkId]?: NodeSettings }
  }
  for (const { mode, network, blocks } of sim.chains.values()) {
    const rpcUrls = ['http://node.test']
    if (network !== 'bitcoin' && network !== 'ethereum')
      networks[mode][network] = { rpcUrls, genesis: blocks[0]?.hash ?? '' }
    else
      networks[mode][network] = {
        rpcUrls,
        chainId: network === 'ethereum' ? (mode === 'live' ? 1 : 31_337) : null,
        confirmations: CONFIRMATIONS[network],
      }
  }
  return createCatalog(networks)
}
