import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'

/** Nodes for payers' questions about transactions. */
export interface NodeClients {
  /** Null where the network has no node in that mode. */
  clientOf(mode: Mode, network: NetworkId): OpenChainClient | null
  close(): Promise<void>
}

/** Clients created on first use, one for each network and mode. */
export function createNodeClients(networks: NetworkSettings, metrics: Metrics): NodeClients {
  const clients = new Map<string, OpenChainClient | null>()
  return {
    clientOf(mode, network) {
      const key = `${mode}:${network}`
      const known = clients.get(key)
      if (known !== undefined) return known
      const client = createChainClient(networks, mode, network, metrics)
      clients.set(key, client)
      return client
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client?.close()))
      clients.clear()
    },
  }
}
