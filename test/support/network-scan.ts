import { createChainClient } from '#shared/chains/create-chain-client.ts'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import type { Engine } from './engine.ts'
import type { useStores } from './stores.ts'

/** A running scanner of a network in test mode. */
export interface NetworkScan {
  /** The stored cursor; throws before the first start. */
  cursor(): Promise<ChainCursor>
  /** For waiting until a scanner has done something. */
  readonly patience: { readonly timeout: number; readonly interval: number }
  stop(): Promise<void>
}

/** Derives addresses and scans these nodes for an engine. */
export async function startNetworkScan(
  stores: ReturnType<typeof useStores>,
  { deps, addressBook, secretBox }: Engine,
  network: NetworkId,
  networks: NetworkSettings['test'],
  pollMs = 100,
): Promise<NetworkScan> {
  await deriveAhead({ ...deps, addressBook, secretBox } as never, 24)
  const client = createChainClient({ live: {}, test: networks }, 'test', network, stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  const scanner = startChainScanner(deps as unknown as ScanDeps, {
    mode: 'test',
    network,
    family: CHAINS[network].family,
    client,
    createIndex: createWatchIndex,
    pollMs,
    finalityDepth: 100,
    dropAfterMs: 120_000,
    batchMax: 20,
    development: false,
  })
  return {
    patience: { timeout: 40_000, interval: 100 },
    async cursor() {
      const cursor = await deps.cursors.find('test', network)
      if (cursor === null) throw new Error('no cursor yet')
      return cursor
    },
    async stop() {
      await scanner.stop()
      await client.close()
    },
  }
}
