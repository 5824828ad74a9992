import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import type { NetworkSettings } from '#shared/config/network-settings.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createBacklogRepository } from '#shared/db/maintenance/backlog-repository.ts'
import { createStoreRedundancy } from '#shared/db/maintenance/store-redundancy.ts'
import type { ChainPaces } from '#shared/ports/chain-catalog.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { MetricsRegistry } from '#shared/runtime/observability/metrics.ts'
import { createBacklogCollector } from '#shared/usecases/maintenance/collect-backlogs.ts'
import { repeat } from './repeat.ts'

/** Often enough for an autoscaler that polls every 15 s. */
const EVERY_MS = 5_000

/**
 * Collects the figures of the installation while this process holds the lease, and stands by while another does. It
 * runs in every process that has the list of networks, so that figures exist while one of them is alive. Returns a function that ends it.
 */
export function startCollector(
  db: Database,
  { networks, paces }: { readonly networks: NetworkSettings; readonly paces: ChainPaces },
  runtime: Pick<Runtime, 'clock' | 'random' | 'logger'> & { readonly metrics: MetricsRegistry },
): () => Promise<void> {
  const repositories = createRepositories(db, runtime)
  const collector = createBacklogCollector({
    ...runtime,
    ...repositories,
    backlogs: createBacklogRepository(db),
    rates: repositories.rateSnapshots,
    catalog: createCatalog(networks, paces),
    nodePrices: createNodePrices(networks),
    redundancy: createStoreRedundancy(db),
  })
  const stop = repeat(collector.run, EVERY_MS, 0)
  return async () => {
    await stop()
    await collector.stop()
  }
}
