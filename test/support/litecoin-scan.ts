import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import type { Engine } from './engine.ts'
import type { useStores } from './stores.ts'

/** A running scanner of Litecoin in test mode. */
export interface LitecoinScan {
  /** The stored cursor; throws before the first start. */
  cursor(): Promise<ChainCursor>
  /** For waiting until a scanner has done something. */
  readonly patience: { readonly timeout: number; readonly interval: number }
  stop(): Promise<void>
}

/** Derives addresses and scans these nodes for an engine. */
export async function startLitecoinScan(
  stores: ReturnType<typeof useStores>,
  engine: Engine,
  networks: { readonly litecoin: { readonly rpcUrls: readonly string[]; readonly genesis: string } },
  pollMs = 100,
): Promise<LitecoinScan> {
  const { deps, addressBook, secretBox } = engine
  await deriveAhead({ ...deps, addressBook, secretBox } as never, 24)
  const client = createChainClient({ live: {}, test: networks }, 'test', 'litecoin', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  const scanner = startChainScanner(deps as unknown as ScanDeps, {
    mode: 'test',
    network: 'litecoin',
    family: 'litecoin',
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
      const cursor = await deps.cursors.find('test', 'litecoin')
      if (cursor === null) throw new Error('no cursor yet')
      return cursor
    },
    async stop() {
      await scanner.stop()
      await client.close()
    },
  }
}
