import { afterEach, beforeAll } from 'vitest'
import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createEvmClient, type EvmClient } from '#shared/chains/families/evm/client.ts'
import type { EvmClientOptions } from '#shared/chains/families/evm/options.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import { type Lie, startLyingNode } from './lying-node.ts'
import { freshChain } from './worker-chain.ts'

/** The watched address of an EVM stage. */
export const WATCHED_ACCOUNT = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'

/** Metrics nobody reads. */
export const SILENT: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }

/** A local Ethereum for a whole test file, and clients and lying nodes that end with each test. */
export interface EvmStage {
  readonly chain: LocalChain
  /** Knows `WATCHED_ACCOUNT`. */
  readonly watches: WatchIndex
  /** A client of these nodes that takes USDT; `change` replaces options. */
  client(urls: readonly string[], change?: Partial<EvmClientOptions>): EvmClient
  /** The URL of a node that answers like the chain's, except where it lies. */
  liar(lie: Lie): Promise<string>
  /** Closes something with the test. */
  keep(resource: { close(): unknown }): void
}

/** Gives the file's tests the worker's chain, which mines on demand. The getters are good inside hooks and tests. */
export function useEvmStage(prepare: (chain: LocalChain) => Promise<void>): EvmStage {
  const watches = createWatchIndex()
  watches.add(WATCHED_ACCOUNT.slice(2).toLowerCase())
  const opened: { close(): unknown }[] = []
  let chain: LocalChain
  beforeAll(async () => {
    chain = await freshChain()
    await prepare(chain)
  })
  afterEach(async () => {
    for (const resource of opened.splice(0)) await resource.close()
  })
  return {
    get chain() {
      return chain
    },
    watches,
    client(urls, change = {}) {
      const made = createEvmClient({
        chain: CHAINS.ethereum,
        mode: 'test',
        rpcUrls: urls,
        chainId: 31_337,
        nativeAsset: 'eth_ethereum',
        tokens: [{ asset: 'usdt_ethereum', contract: ASSETS.usdt_ethereum.contract, decimals: 6 }],
        logsCoins: false,
        metrics: SILENT,
        ...change,
      })
      opened.push(made)
      return made
    },
    async liar(lie) {
      const node = await startLyingNode(chain.url, lie)
      opened.push(node)
      return node.url
    },
    keep: (resource) => void opened.push(resource),
  }
}
