import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import type { Engine } from './engine.ts'
import { type NetworkScan, startNetworkScan } from './network-scan.ts'
import type { useStores } from './stores.ts'

/** A running scanner of Litecoin in test mode. */
export type LitecoinScan = NetworkScan

/** Derives addresses and scans these nodes for an engine. */
export const startLitecoinScan = (
  stores: ReturnType<typeof useStores>,
  engine: Engine,
  networks: Pick<NetworkSettings['test'], 'litecoin'>,
  pollMs = 100,
): Promise<LitecoinScan> => startNetworkScan(stores, engine, 'litecoin', networks, pollMs)
