import type { ServiceParts, Stop } from '#services/context.ts'
import type { OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { MODES, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { pollEveryMs } from '#shared/usecases/scanning/paced-source.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { type ThriftyPace, USUAL_LOOKS, usualPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { createHotWatches, shareColdWatches } from '#shared/usecases/watches/cold-watches.ts'
import { type HistorySourceClient, startHistoryLoop } from './history-loop.ts'

const POLL_DEVELOPMENT_MS = 300
/** A restarted node reloads its mempool within this time. */
const DROP_AFTER_MS = 120_000
const DROP_AFTER_DEVELOPMENT_MS = 2_000
/** Pause after a node failed a search for the earlier use of a key. */
const HISTORY_RETRY_MS = 15_000
const HISTORY_RETRY_DEVELOPMENT_MS = 1_000

/** The parts of the `scanner` process. */
export interface ScannerParts extends ServiceParts {
  readonly catalog: Catalog
  /** Networks of this process, in either mode. */
  readonly networks: readonly NetworkId[]
  /** A new client for each call; null where the network has no node in that mode. Stopping closes them all. */
  openChain(mode: Mode, network: NetworkId): OpenChainClient | null
  /** Most blocks per step of any network; all are in memory at once. */
  readonly batchMax: number
  /** Null where every block is read; otherwise whether the network's quota is nearly used up. */
  thrifty(mode: Mode, network: NetworkId): ThriftyPace['isNearlySpent'] | null
  /** Nodes of test networks run on this machine and lose their data. */
  readonly development: boolean
}

interface Loop {
  readonly scanner: ChainScanner
  readonly client: OpenChainClient
  /** Full scanning polls on its own schedule: a wake-up would only cost a request. */
  readonly followsPages: boolean
}

/**
 * One loop for each network and mode with a node, the search for earlier use of keys next to them, and a worker that
 * shortens pauses of thrifty networks. Several processes may run the same loop: one of them scans, the others stand by.
 */
export function assembleScanner(parts: ScannerParts): Stop {
  const coldOf = shareColdWatches(parts)
  const loops = new Map(
    clientsOf(parts).map(({ mode, network, client }): [string, Loop] => {
      const cold = coldOf(mode, CHAINS[network].family)
      const createIndex = () => createHotWatches(createWatchIndex, cold)
      const source = { ...sourceOf(parts, mode, network, client), createIndex }
      const scanner = startChainScanner(parts, source)
      return [`${mode}-${network}`, { client, scanner, followsPages: source.thrifty !== undefined }]
    }),
  )
  const stopHistory = startHistoryLoop(
    parts,
    // Separate clients: a failed long query must not affect the health of the node used for scanning.
    clientsOf(parts),
    parts.development ? HISTORY_RETRY_DEVELOPMENT_MS : HISTORY_RETRY_MS,
  )
  const worker = parts.startWorker({
    ...WORKERS.scan,
    handle: async (id) => {
      const loop = loops.get(id)
      if (loop?.followsPages === true) loop.scanner.wake()
    },
  })
  return async () => {
    await Promise.all([worker.stop(), stopHistory(), ...[...loops.values()].map(({ scanner }) => scanner.stop())])
    await Promise.all([...loops.values()].map(({ client }) => client.close()))
  }
}

function clientsOf({
  networks,
  openChain,
}: ScannerParts): (HistorySourceClient & { readonly client: OpenChainClient })[] {
  return MODES.flatMap((mode) =>
    networks.flatMap((network) => {
      const client = openChain(mode, network)
      return client === null ? [] : [{ mode, network, client }]
    }),
  )
}

function sourceOf(
  parts: ScannerParts,
  mode: Mode,
  network: NetworkId,
  client: OpenChainClient,
): Omit<ScanSource, 'createIndex'> {
  const { family, scanBatchMax }: ChainDefinition = CHAINS[network]
  const { blockTimeMs, finalityDepth } = parts.catalog.figures(network, null)
  // Only a test network can have a local node.
  const local = parts.development && mode === 'test'
  const isNearlySpent = parts.thrifty(mode, network)
  if (isNearlySpent !== null && client.accounts === undefined) {
    throw new TypeError(`PAYMESH_NETWORKS: "source":"thrifty" is for EVM networks, not for ${network}`)
  }
  const pollMs = pollEveryMs(blockTimeMs)
  return {
    mode,
    network,
    family,
    client,
    pollMs: local ? Math.min(pollMs, POLL_DEVELOPMENT_MS) : pollMs,
    finalityDepth,
    dropAfterMs: local ? DROP_AFTER_DEVELOPMENT_MS : DROP_AFTER_MS,
    batchMax: Math.min(parts.batchMax, scanBatchMax),
    development: local,
    ...(client.accounts !== undefined && { looks: USUAL_LOOKS }),
    ...(isNearlySpent !== null && { thrifty: usualPace(blockTimeMs, isNearlySpent) }),
  }
}
