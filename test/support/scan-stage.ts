import { Interface, Wallet as Signer } from 'ethers'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { createHotWatches, shareColdWatches } from '#shared/usecases/watches/cold-watches.ts'
import { emptyDatabase } from './empty-database.ts'
import type { TestStores } from './stores.ts'
import { anotherChain, freshChain } from './worker-chain.ts'

/** Account 1 of anvil's public phrase. */
const PAYER = new Signer('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const erc20 = new Interface(['function transfer(address,uint256)', 'function mint(address,uint256)'])
const USDT = ASSETS.usdt_ethereum.contract
const [ours] = createAddressBook().derive('evm', 'test', SANDBOX_KEYS.evm, 0, 1)

/** The one watched address of a scan stage. */
export const WATCHED = ours ?? { index: 0, address: '', matchKey: '' }
/** Confirmations that its network asks for. */
export const CONFIRMATIONS = 3

/** A payment row, as far as scanning decides it. */
export interface StoredPayment {
  readonly key: string
  readonly state: string
  readonly height: number | undefined
  readonly amount: string
}

/** A local chain that mines on demand, empty stores with one watched address, and scanners between them. */
export interface ScanStage {
  readonly chain: LocalChain
  readonly deps: ScanDeps
  /** Stands another, fresh chain behind the stage; the old one ends. */
  replaceChain(): Promise<void>
  source(change?: Partial<ScanSource>, chainId?: number, rpcUrls?: readonly string[]): ScanSource
  /** Starts a scanner that ends with the test. `change` replaces what it works with. */
  scan(source?: ScanSource, change?: Partial<ScanDeps>): ChainScanner
  /** All payments, oldest first. */
  payments(): Promise<readonly StoredPayment[]>
  cursor(): Promise<ChainCursor | null>
  height(): Promise<number>
  untilHeight(height: number): Promise<void>
  untilPayments(expected: readonly object[]): Promise<void>
}

const PATIENCE = { timeout: 60_000, interval: 50 }

/** Sets the stage again before each test, on the chain of the worker, and clears it afterwards. The getters are good inside hooks and tests. */
export function useScanStage(stores: TestStores): ScanStage {
  let chain: LocalChain
  let deps: ScanDeps
  const running: { wake(): void; stop(): Promise<void> }[] = []
  const clients: { close(): Promise<void> }[] = []

  const firstBlock = async () =>
    ((await chain.rpc('eth_getBlockByNumber', ['0x0', false])) as { readonly hash: string }).hash
  beforeEach(async () => {
    await emptyDatabase(stores.db)
    chain = await freshChain()
    await chain.mine()
    deps = await prepareDeps(stores, chain.url)
  })
  afterEach(async () => {
    for (const scanner of running.splice(0)) await scanner.stop()
    for (const client of clients.splice(0)) await client.close()
  })

  /** Waits for what the scanners do, and wakes them, so that no test waits for the pause after a failure. */
  const until = (check: () => Promise<unknown>) =>
    vi.waitFor(async () => {
      for (const { wake } of running) wake()
      await check()
    }, PATIENCE)

  const stage: ScanStage = {
    get chain() {
      return chain
    },
    get deps() {
      return deps
    },
    async replaceChain() {
      const first = await firstBlock()
      // The first block differs by the second in which the node is started.
      do {
        chain = await anotherChain()
        await chain.mine()
      } while ((await firstBlock()) === first)
    },
    source(change = {}, chainId = 31_337, rpcUrls = [chain.url]) {
      const node = { rpcUrls, chainId }
      const client = createChainClient(
        { live: {}, test: { ethereum: node } },
        'test',
        'ethereum',
        stores.runtime.metrics,
      )
      if (client === null) throw new Error('no client')
      clients.push(client)
      // As in a process that was just started.
      const cold = shareColdWatches(createRepositories(stores.db, stores.runtime))('test', 'evm')
      return { ...SOURCE, client, createIndex: () => createHotWatches(createWatchIndex, cold), ...change }
    },
    scan(source = stage.source(), change = {}) {
      const scanner = startChainScanner({ ...deps, ...change }, source)
      // Attention changes what a thrifty scanner does, so that only its test may wake it.
      running.push({ wake: source.thrifty === undefined ? scanner.wake : () => {}, stop: scanner.stop })
      return scanner
    },
    payments: async () =>
      (await stores.db.connection.collection('payments').find().sort({ _id: 1 }).toArray()).map((row) => ({
        key: String(row['key']),
        state: String(row['state']),
        height: row['block']?.height as number | undefined,
        amount: String(row['amountBase']),
      })),
    cursor: () => deps.cursors.find('test', 'ethereum'),
    height: async () => Number(await chain.rpc('eth_blockNumber')),
    untilHeight: (height) => until(async () => expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height)),
    untilPayments: (expected) => until(async () => expect(await stage.payments()).toMatchObject(expected)),
  }
  return stage
}

const SOURCE = {
  mode: 'test',
  network: 'ethereum',
  family: 'evm',
  pollMs: 50,
  dropAfterMs: 500,
  finalityDepth: 65,
  batchMax: 50,
  development: true,
} as const

async function prepareDeps(stores: TestStores, rpcUrl: string): Promise<ScanDeps> {
  const repositories = createRepositories(stores.db, stores.runtime)
  const row = { mode: 'test', family: 'evm', materialId: 'test:evm:stage', watchedOn: [] } as const
  await repositories.wallets.addDerived(row.materialId, [{ ...WATCHED, ...row }], 1)
  return {
    ...stores.runtime,
    ...repositories,
    marks: NO_MARKS,
    notifier: { notify: () => {} },
    catalog: createCatalog({ live: {}, test: { ethereum: { rpcUrls: [rpcUrl], confirmations: CONFIRMATIONS } } }),
  }
}

/** A signed transfer of test tokens, so that the very same transaction can be mined again elsewhere. */
export async function signedTransfer(chain: LocalChain, amountBase: bigint): Promise<string> {
  const mint = erc20.encodeFunctionData('mint', [PAYER.address, amountBase])
  await chain.rpc('eth_sendTransaction', [{ from: PAYER.address, to: USDT, data: mint, gas: '0x30d40' }])
  await chain.mine()
  return PAYER.signTransaction({
    chainId: 31_337,
    nonce: Number(await chain.rpc('eth_getTransactionCount', [PAYER.address, 'latest'])),
    to: USDT,
    data: erc20.encodeFunctionData('transfer', [WATCHED.address, amountBase]),
    gasLimit: 200_000,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1n,
    type: 2,
  })
}
