import type { ServiceContext, StartService } from '#services/context.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createScanWorker } from '#shared/queues/scan-queue.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { type HistorySourceClient, startHistoryLoop } from './history-loop.ts'

const POLL_MIN_MS = 250
const POLL_MAX_MS = 2_000
const POLL_DEVELOPMENT_MS = 300
/** Questions per block while nothing happens. */
const POLLS_PER_BLOCK = 6
/** A node that restarts reads its mempool again within this time. */
const DROP_AFTER_MS = 120_000
const DROP_AFTER_DEVELOPMENT_MS = 2_000
/** After a node failed a look at the earlier use of a key. */
const HISTORY_RETRY_MS = 15_000
const HISTORY_RETRY_DEVELOPMENT_MS = 1_000
/** Most blocks per step of any network; all are in memory at once. */
const BATCH_MAX = 50

interface Loop {
  readonly scanner: ChainScanner
  readonly client: OpenChainClient
}

/**
 * One loop for each configured network and mode that CHAINS selects. Several processes may run the same loop: one of
 * them scans, the others stand by. Queue `scan` only shortens the pauses.
 */
export const start: StartService = async (context) => {
  const ambient = ambientOf(context)
  const kicker = createKicker(context.redis, ambient)
  const wallets = createWalletRepository(context.db)
  const deps: ScanDeps = {
    ...ambient,
    kicker,
    balances: createCoinBalanceRepository(context.db),
    catalog: createCatalog(context.config.networks),
    commands: createChainCommandRepository(context.db),
    cursors: createCursorRepository(context.db),
    exceptions: createExceptionRepository(context.db),
    invoices: createInvoiceRepository(context.db),
    payments: createPaymentRepository(context.db, context.random),
    wallets,
  }
  const loops = startLoops(context, deps)
  const stopHistory = startHistoryLoop(
    { ...ambient, wallets, leases: createLeaseRepository(context.db) },
    historySources(context),
    context.config.env === 'development' ? HISTORY_RETRY_DEVELOPMENT_MS : HISTORY_RETRY_MS,
  )
  const worker = createScanWorker(context.redis, ambient, { wake: (id) => loops.get(id)?.scanner.wake() })
  return async () => {
    await Promise.all([worker.stop(), stopHistory(), ...[...loops.values()].map(({ scanner }) => scanner.stop())])
    await Promise.all([...loops.values()].map(({ client }) => client.close()))
    await kicker.close()
  }
}

/** Clients of their own: what a long question fails in says nothing against the node that is scanned. */
function historySources({ config, metrics }: ServiceContext): readonly HistorySourceClient[] {
  return MODES.flatMap((mode) =>
    (config.chains ?? NETWORK_IDS).flatMap((network) => {
      const client = createChainClient(config.networks, mode, network, metrics)
      return client === null ? [] : [{ mode, network, client }]
    }),
  )
}

/** The running loops by `<mode>-<network>`. */
function startLoops({ config, metrics }: ServiceContext, deps: ScanDeps): ReadonlyMap<string, Loop> {
  const loops = new Map<string, Loop>()
  for (const mode of MODES) {
    for (const network of config.chains ?? NETWORK_IDS) {
      const client = createChainClient(config.networks, mode, network, metrics)
      if (client === null) continue
      const source = sourceOf(mode, network, client, config.env === 'development')
      loops.set(`${mode}-${network}`, { client, scanner: startChainScanner(deps, source) })
    }
  }
  return loops
}

function sourceOf(mode: Mode, network: NetworkId, client: OpenChainClient, development: boolean): ScanSource {
  const { family, blockTimeMs, finalityDepth, scanBatchMax }: ChainDefinition = CHAINS[network]
  // Only a test network can be somebody's local node.
  const local = development && mode === 'test'
  const pollMs = Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, blockTimeMs / POLLS_PER_BLOCK))
  return {
    mode,
    network,
    family,
    client,
    createIndex: createWatchIndex,
    pollMs: local ? Math.min(pollMs, POLL_DEVELOPMENT_MS) : pollMs,
    finalityDepth,
    dropAfterMs: local ? DROP_AFTER_DEVELOPMENT_MS : DROP_AFTER_MS,
    batchMax: Math.min(BATCH_MAX, scanBatchMax),
    development: local,
  }
}

function ambientOf({ clock, random, logger, metrics, pulses }: ServiceContext) {
  return { clock, random, logger, metrics, pulses }
}
