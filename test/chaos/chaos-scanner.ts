import { expect, vi } from 'vitest'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import type { Engine } from '#test/support/engine.ts'
import type { TestStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import type { ChaosChain } from './chaos-chain.ts'
import { createFuse, type Fuse } from './fuse.ts'

/** A scanner that does not come to rest within this time has stalled, also on a machine that does ten other things. */
export const PATIENCE = { timeout: 180_000, interval: 15 }
/** Pause of a scanner between two looks. */
export const POLL_MS = 10

/** Looks end at final blocks, so they find nothing of a sequence before its end. */
const LOOKS = briskPace({ endedLookMs: 200, allLookMs: 200 })

/** One scanner over its life. */
export interface RunningScanner {
  readonly fuse: Fuse
  readonly scanner: ChainScanner
  readonly client: OpenChainClient
  /** Looks at the mempool that ended. */
  looks: number
}

/** What a scanner of the test writes to, by the engine's clock. */
export function depsOf({ db, runtime }: TestStores, { deps: { clock, notifier, catalog } }: Engine): ScanDeps {
  return {
    ...runtime,
    marks: NO_MARKS,
    clock,
    notifier,
    catalog,
    balances: createCoinBalanceRepository(db),
    commands: createChainCommandRepository(db),
    cursors: createCursorRepository(db),
    exceptions: createExceptionRepository(db),
    invoices: createInvoiceRepository(db),
    payments: createPaymentRepository(db, runtime.random),
    wallets: createWalletRepository(db),
  }
}

/**
 * A scanner of the chain through the nodes of the settings. A thrifty one takes every invoice for open, so that it has to find all
 * their money itself.
 */
export function startScanner(
  chain: ChaosChain,
  networks: NetworkSettings,
  given: ScanDeps,
  isThrifty = false,
): RunningScanner {
  const watchedMethods: ScanDeps['invoices']['watchedMethods'] = async (...question) =>
    (await given.invoices.watchedMethods(...question)).map((method) => ({ ...method, isOpen: true }))
  const deps = isThrifty ? { ...given, invoices: { ...given.invoices, watchedMethods } } : given
  const { network, family } = chain
  const client = createChainClient(networks, 'test', network, deps.metrics)
  if (client === null) throw new Error('no client')
  const fuse = createFuse(deps)
  const { mempool } = client
  const look: Pick<ScanSource['client'], 'mempool'> =
    mempool === undefined
      ? {}
      : {
          async mempool(watches, outpoints) {
            const view = await mempool(watches, outpoints)
            running.looks += 1
            return view
          },
        }
  const source: ScanSource = {
    mode: 'test',
    network,
    family,
    client: { ...client, ...look },
    createIndex: createWatchIndex,
    pollMs: POLL_MS,
    finalityDepth: 64,
    dropAfterMs: 150,
    batchMax: 4,
    development: false,
    looks: LOOKS,
    ...(isThrifty && { thrifty: LOOKS }),
  }
  const running = { fuse, client, looks: 0, scanner: startChainScanner(fuse.deps, source) }
  return running
}

/** Ends a scanner in order. */
export async function stopScanner({ scanner, client }: RunningScanner): Promise<void> {
  await scanner.stop()
  await client.close()
}

/** The newest block, asked of the honest node. */
export async function tipOf(chain: ChaosChain): Promise<BlockRef> {
  const direct = createChainClient(
    { live: {}, test: { [chain.network]: { rpcUrls: [chain.url], chainId: 31_337, genesis: 'any' } } },
    'test',
    chain.network,
    { count: () => {}, gauge: () => {}, observe: () => {} },
  )
  if (direct === null) throw new Error('no client')
  try {
    const block = await direct.blockAt((await direct.head()).height)
    if (block === null) throw new Error('no head')
    return block
  } finally {
    await direct.close()
  }
}

/** Waits until a scanner stands at the chain's head and has looked at the mempool from there. */
export async function settled(chain: ChaosChain, deps: ScanDeps, running: RunningScanner): Promise<void> {
  const head = await tipOf(chain)
  await vi.waitFor(async () => {
    running.scanner.wake()
    const cursor = await deps.cursors.find('test', chain.network)
    expect([cursor?.height, cursor?.hash]).toEqual([head.height, head.hash])
  }, PATIENCE)
  if (running.client.mempool === undefined) return
  const { looks } = running
  await vi.waitFor(() => expect(running.looks).toBeGreaterThan(looks + 1), PATIENCE)
}
