import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodeCheck } from '#shared/chains/check-nodes.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { createQuotaWatch } from '#shared/usecases/networks/node-costs.ts'
import { assembleScanner } from './assemble.ts'
import { reportShortcomings } from './report-shortcomings.ts'

/** Most blocks per step of any network; all are in memory at once. */
const BATCH_MAX = 50

/** Scans the configured networks that CHAINS selects, in both modes. Queue `scan` only shortens the pauses. */
export const start: StartService = async (context) => {
  const { config, metrics } = context
  const parts = openParts(context)
  const costs = { ...parts, nodePrices: createNodePrices(config.networks) }
  const catalog = createCatalog(config.networks, context.paces)
  const networks = config.chains ?? NETWORK_IDS
  for (const mode of MODES) {
    for (const network of networks) {
      const choice = catalog.scanChoice(network, mode)
      if (choice !== null) parts.logger.info({ mode, network, ...choice }, 'how the network is scanned')
    }
  }
  // A probe of a silent node takes longer than a stop may.
  void reportShortcomings({ ...parts, catalog, networks, nodes: createNodeCheck(config.networks, metrics) })
  const stop = assembleScanner({
    ...parts,
    catalog,
    networks,
    openChain: (mode, network) => createChainClient(config.networks, mode, network, metrics),
    thrifty: (mode, network) =>
      catalog.scanChoice(network, mode)?.source === 'thrifty' ? createQuotaWatch(costs, mode, network) : null,
    batchMax: BATCH_MAX,
    development: config.env === 'development',
  })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
