import type { ServiceContext } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createAddressReader } from '#shared/chains/addresses/payee-address.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import type { CheckoutParts } from './assemble.ts'
import { createNodeClients } from './node-clients.ts'

/** The real parts of the checkout on open connections; node clients connect on first use. */
export function openCheckoutParts(context: ServiceContext): ReturnType<typeof openParts> & CheckoutParts {
  const { config, signals, metrics } = context
  return {
    ...openParts(context),
    config,
    catalog: createCatalog(config.networks, context.paces),
    payees: createAddressReader(),
    buckets: signals.createTokenBuckets(metrics),
    nodePrices: createNodePrices(config.networks),
    nodes: createNodeClients(config.networks, metrics),
  }
}
