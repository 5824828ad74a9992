import type { OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { startLeasedLoop } from '#shared/runtime/process/leased-loop.ts'
import {
  awaitedNetworks,
  type SearchKeyHistoryDeps,
  searchKeyHistories,
} from '#shared/usecases/wallets/search-key-history.ts'

const LEASE_MS = 15_000
const PAUSE_MS = 1_000
const PAUSE_AFTER_FAILURE_MS = 5_000

/** A network that this process queries, with a client that nothing else uses. */
export interface HistorySourceClient {
  readonly mode: Mode
  readonly network: NetworkId
  readonly client: Pick<OpenChainClient, 'used' | 'close'>
}

/**
 * Searches for the earlier use of new keys on the networks of this process, all at the same time: a search may take minutes and
 * does not delay other networks. Two concurrent processes do no harm. A network that failed is searched again after
 * `retryMs`. Returns a function that ends the loop and does not wait for responses.
 */
export function startHistoryLoop(
  deps: Runtime & SearchKeyHistoryDeps & { readonly leases: LeaseRepository },
  sources: readonly HistorySourceClient[],
  retryMs: Ms,
): () => Promise<void> {
  const idOf = ({ mode, network }: HistorySourceClient) => `${mode}:${network}`
  const restsUntil = new Map<string, number>()

  const search = async (source: HistorySourceClient, signal: AbortSignal): Promise<void> => {
    const { mode, network } = source
    restsUntil.set(idOf(source), Number.POSITIVE_INFINITY)
    try {
      await searchKeyHistories(deps, source, () => signal.aborted)
      restsUntil.delete(idOf(source))
    } catch (cause) {
      restsUntil.set(idOf(source), performance.now() + retryMs)
      if (signal.aborted) return
      deps.metrics.count('key_history_failed_total', { network, mode })
      deps.logger.warn({ err: cause, network, mode }, 'the earlier use of a key could not be searched')
    }
  }

  const stop = startLeasedLoop(deps, {
    id: `key-history:${sources.map(idOf).sort().join(',')}`,
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    pauseAfterFailureMs: PAUSE_AFTER_FAILURE_MS,
    failures: 'key_history_loop_failed_total',
    failed: 'the search for earlier use of keys failed',
    round: async (signal) => {
      const awaited = await awaitedNetworks(deps)
      for (const source of sources) {
        const isDue = (restsUntil.get(idOf(source)) ?? 0) <= performance.now()
        if (awaited.has(idOf(source)) && isDue) void search(source, signal)
      }
    },
  })
  return async () => {
    await stop()
    // A query may run for minutes; it is repeated after the next start.
    for (const { client } of sources) void client.close().catch(() => undefined)
  }
}
