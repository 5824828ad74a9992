import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { createQuotaWatch } from '#shared/usecases/networks/quota-watch.ts'
import { assembleScanner } from './assemble.ts'

/** Most blocks per step of any network; all are in memory at once. */
const BATCH_MAX = 50

/** Scans the configured networks that CHAINS selects, in both modes. Queue `scan` only shortens the pauses. */
export const start: StartService = async (context) => {
  const { config, metrics } = context
  const parts = openParts(context)
  const costs = { ...parts, nodePrices: createNodePrices(config.networks) }
  const stop = assembleScanner({
    ...parts,
    catalog: createCatalog(config.networks),
    networks: config.chains ?? NETWORK_IDS,
    openChain: (mode, network) => createChainClient(config.networks, mode, network, metrics),
    thrifty: (mode, network) =>
      config.networks[mode][network]?.source === 'thrifty' ? createQuotaWatch(costs, mode, network) : null,
    batchMax: BATCH_MAX,
    development: config.env === 'development',
  })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
