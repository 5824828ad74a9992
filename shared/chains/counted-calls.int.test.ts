import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import { NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createUsageCounter, startOfDay } from '#shared/usecases/networks/usage-counter.ts'
import { useStores } from '#test/support/stores.ts'
import { createChainClient } from './create-chain-client.ts'
import { createNodePrices } from './node-prices.ts'

const stores = useStores()
/** Takes every question and answers none of them well: what is sent to it counts all the same. */
let requests = 0
const server = createServer((request, response) => {
  requests += 1
  void once(request.resume(), 'end').then(() => response.end('{"error":{"code":-32000,"message":"no"}}'))
})
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** One life of a process that asks a node of the network for its head. */
async function live(network: NetworkId): Promise<void> {
  const registry = createMetrics({ defaults: false })
  const { clock, logger } = stores.runtime
  const usage = createUsageCounter(registry, clock, createNodePrices({ live: {}, test: {} }))
  const url = `http://user:password@127.0.0.1:${(server.address() as AddressInfo).port}/path-with-key?key=secret`
  const metrics = { ...registry, ...usage.metrics }
  const client = createChainClient({ live: { [network]: { rpcUrls: [url] } }, test: {} }, 'live', network, metrics)
  await expect(client?.head()).rejects.toThrow()
  await client?.close()
  await usage.flush(createNodeUsageRepository(stores.db), logger)
}

// Guarantee: no family has a way to its nodes that is not counted, and a restart forgets nothing.
it.each(NETWORK_IDS)('every call to nodes of %s is counted over two lives of a process', async (network) => {
  requests = 0
  await live(network)
  await live(network)
  const rows = await createNodeUsageRepository(stores.db).since(startOfDay(stores.runtime.clock.now()))
  const own = rows.filter((row) => row.network === network)
  expect(own.reduce((sum, { calls }) => sum + calls, 0)).toBe(requests)
  expect(requests).toBeGreaterThan(1)
  for (const { mode, provider, unit, units, bytes } of own) {
    expect([mode, provider, unit]).toEqual(['live', `127.0.0.1:${(server.address() as AddressInfo).port}`, 'calls'])
    expect(units).toBe(requests)
    expect(bytes).toBeGreaterThan(0)
  }
  expect(JSON.stringify(rows)).not.toMatch(/secret|password|path-with-key/)
})
