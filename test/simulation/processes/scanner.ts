import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { SimChain } from '../world/chain.ts'
import { createSimChainClient } from '../world/chain-client.ts'
import type { Program } from '../world/supervisor.ts'
import { wireInvoices } from './locks.ts'
import { nothingToWatch, nothingUnconfirmed } from './nothing-due.ts'
import { surround } from './surroundings.ts'

const POLL_MS = 2_000
const DROP_AFTER_MS = 120_000

/** A `scanner` process of one network. */
export function scannerProgram(chain: SimChain): Program {
  return async (sim, running) => {
    const around = await surround(sim, running)
    const { db, call, luck } = around
    const base = wireInvoices(around)
    const { wallets, payments } = base
    const deps = {
      ...base,
      balances: createCoinBalanceRepository(db),
      wallets: {
        ...wallets,
        unmarkedWatches: async (...asked: Parameters<typeof wallets.unmarkedWatches>) =>
          nothingToWatch(sim, chain) ? [] : wallets.unmarkedWatches(...asked),
      },
      payments: {
        ...payments,
        unconfirmed: async (...asked: Parameters<typeof payments.unconfirmed>) =>
          nothingUnconfirmed(sim) ? [] : payments.unconfirmed(...asked),
        dueForConfirmation: async (...asked: Parameters<typeof payments.dueForConfirmation>) =>
          nothingUnconfirmed(sim) ? [] : payments.dueForConfirmation(...asked),
        confirmThrough: async (...asked: Parameters<typeof payments.confirmThrough>) =>
          nothingUnconfirmed(sim) ? [] : payments.confirmThrough(...asked),
      },
      // Nobody at a desk asks anything of a scanner here.
      commands: { ...createChainCommandRepository(db), listOpen: async () => [] },
      exceptions: createExceptionRepository(db),
    }
    startChainScanner(deps, {
      mode: chain.mode,
      network: chain.network,
      family: chain.family,
      client: createSimChainClient(sim, chain, { call, process: running.process }, luck.fork('node')),
      createIndex: createWatchIndex,
      pollMs: POLL_MS,
      finalityDepth: CHAINS[chain.network].finalityDepth,
      dropAfterMs: DROP_AFTER_MS,
      batchMax: luck.pick([2, 5, 20]),
      development: false,
    })
  }
}
