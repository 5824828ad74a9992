import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodeCheck } from '#shared/chains/check-nodes.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { MODES, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { NodeCheck } from '#shared/ports/node-states.ts'
import type { Logger } from '#shared/ports/runtime.ts'
import { createQuotaWatch } from '#shared/usecases/networks/node-costs.ts'
import { assembleScanner } from './assemble.ts'

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

/** What reporting needs. */
interface ShortcomingDeps {
  readonly catalog: Pick<Catalog, 'hasNode'>
  readonly nodes: Pick<NodeCheck, 'probe'>
  readonly logger: Logger
  readonly networks: readonly NetworkId[]
}

/** Logs a warning for each thing that the work needs and a node of these networks does not serve. Scanning does not wait for it. */
async function reportShortcomings({ catalog, nodes, logger, networks }: ShortcomingDeps): Promise<void> {
  const scopes = MODES.flatMap((mode) =>
    networks.filter((network) => catalog.hasNode(network, mode)).map((network) => ({ mode, network })),
  )
  for (const { mode, network } of scopes) {
    try {
      for (const { host, shortcomings } of await nodes.probe(mode, network)) {
        for (const shortcoming of shortcomings) {
          logger.warn({ mode, network, host, ...shortcoming }, 'a node does not serve what the work needs')
        }
      }
    } catch (error) {
      logger.warn({ err: error, mode, network }, 'what the nodes serve could not be found out')
    }
  }
}
