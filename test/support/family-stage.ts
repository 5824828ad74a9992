import { afterEach, beforeEach, expect, vi } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { Family, NetworkId } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'
import { createHotWatches, shareColdWatches } from '#shared/usecases/watches/cold-watches.ts'
import { emptyDatabase } from './empty-database.ts'
import type { TestStores } from './stores.ts'

const PATIENCE = { timeout: 25_000, interval: 50 }

/** A payment row, as far as scanning decides it. */
export interface SeenPayment {
  readonly key: string
  readonly state: string
  readonly height: number | undefined
  readonly amount: string
}

/** Scanners of a network that is no EVM network, over empty stores with one watched address. */
export interface FamilyStage {
  /** The watched address, another one in each test. */
  readonly watched: { readonly address: string; readonly matchKey: string }
  /** Starts a scanner that ends with the test. The first one begins at the head of its node. */
  scan(rpcUrls: readonly string[]): void
  /** Starts one that never gets past the block of this height, and stops it when that was tried. */
  scanAndDie(rpcUrls: readonly string[], height: number): Promise<void>
  /** Payments by the digits of their amounts, then by key. */
  payments(): Promise<readonly SeenPayment[]>
  cursor(): Promise<ChainCursor | null>
  untilHeight(height: number): Promise<void>
  untilPayments(expected: readonly object[]): Promise<void>
  /** Waits until the scanner has stored which block it is stuck on. */
  untilStuck(block: object): Promise<void>
}

/** Empties the stores before each test and stops the scanners after it; `stepMs` is by how much their clock runs ahead with each look of a test. */
export function useFamilyStage(stores: TestStores, network: NetworkId, family: Family, stepMs = 0): FamilyStage {
  let tests = 0
  let aheadMs = 0
  let watched: FamilyStage['watched'] & { readonly index: number } = { index: 0, address: '', matchKey: '' }
  const running: { wake(): void; stop(): Promise<unknown> }[] = []

  beforeEach(async () => {
    aheadMs = 0
    await emptyDatabase(stores.db)
    // The chain goes on from test to test, and a first start looks back at its newest blocks.
    for (const address of createAddressBook().derive(family, 'test', SANDBOX_KEYS[family], tests, 1)) watched = address
    tests += 1
    const row = { mode: 'test', family, materialId: `test:${family}:stage`, watchedOn: [] } as const
    await createWalletRepository(stores.db).addDerived(row.materialId, [{ ...watched, ...row }], 1)
  })
  afterEach(async () => {
    for (const one of [...running]) await one.stop()
  })

  const cursors = () => createCursorRepository(stores.db)

  function start(rpcUrls: readonly string[], change: Partial<ScanDeps> = {}) {
    const coldOf = shareColdWatches(createRepositories(stores.db, stores.runtime))
    const networks = { live: {}, test: { [network]: { rpcUrls, genesis: 'any', confirmations: 2 } } }
    const client = createChainClient(networks, 'test', network, stores.runtime.metrics)
    if (client === null) throw new Error('no client')
    const clock = { now: () => stores.runtime.clock.now() + aheadMs }
    const deps = { ...depsOf(stores), clock, catalog: createCatalog(networks), ...change }
    const scanner = startChainScanner(deps, {
      mode: 'test',
      network,
      family,
      client,
      createIndex: () => createHotWatches(createWatchIndex, coldOf('test', family)),
      pollMs: 50,
      finalityDepth: 64,
      dropAfterMs: 1_000,
      batchMax: 20,
      development: false,
    })
    const one = {
      wake: scanner.wake,
      async stop() {
        running.splice(running.indexOf(one), 1)
        await scanner.stop()
        await client.close()
      },
    }
    running.push(one)
    return one
  }

  /**
   * Waits for what the scanners do, wakes them, so that no test waits for the pause after a failure, and lets their clock run ahead, so that
   * none waits for what they do every few seconds.
   */
  const until = (check: () => Promise<unknown>) =>
    vi.waitFor(async () => {
      aheadMs += stepMs
      for (const { wake } of running) wake()
      await check()
    }, PATIENCE)

  const stage: FamilyStage = {
    get watched() {
      return watched
    },
    scan: (rpcUrls) => void start(rpcUrls),
    async scanAndDie(rpcUrls, height) {
      const killed = vi.fn()
      const whole = cursors()
      const dying: typeof whole = {
        ...whole,
        async advance(...args) {
          if (args[3].height === undefined || args[3].height < height) return whole.advance(...args)
          killed()
          throw new Error('killed')
        },
      }
      const one = start(rpcUrls, { cursors: dying })
      await vi.waitUntil(() => killed.mock.calls.length > 0, PATIENCE)
      await one.stop()
    },
    payments: async () =>
      (await stores.db.connection.collection('payments').find().sort({ amountBase: 1, key: 1 }).toArray()).map(
        (row) => ({
          key: String(row['key']),
          state: String(row['state']),
          height: row['block']?.height as number | undefined,
          amount: String(row['amountBase']),
        }),
      ),
    cursor: () => cursors().find('test', network),
    untilHeight: (height) => until(async () => expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height)),
    untilPayments: (expected) => until(async () => expect(await stage.payments()).toMatchObject(expected)),
    untilStuck: (block) => until(async () => expect((await stage.cursor())?.trouble).toMatchObject(block)),
  }
  return stage
}

function depsOf({ db, runtime }: TestStores): Omit<ScanDeps, 'catalog'> {
  return { ...runtime, ...createRepositories(db, runtime), notifier: { notify: () => {} }, marks: NO_MARKS }
}
