import { Interface, Wallet as Signer } from 'ethers'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { type LocalChain, startLocalChain } from '#scripts/local-chain/start-local-chain.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { ChainCursor } from '#shared/ports/scanning.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { emptyDatabase } from './empty-database.ts'
import type { TestStores } from './stores.ts'

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

const PATIENCE = { timeout: 8_000, interval: 20 }

/** Sets the stage anew before each test and clears it afterwards. The getters are good inside hooks and tests. */
export function useScanStage(stores: TestStores): ScanStage {
  let chain: LocalChain
  let deps: ScanDeps
  const running: { stop(): Promise<void> }[] = []
  const clients: { close(): Promise<void> }[] = []

  const startChain = async () => {
    chain = await startLocalChain({ blockTimeMs: null })
    await chain.mine()
  }
  const firstBlock = async () =>
    ((await chain.rpc('eth_getBlockByNumber', ['0x0', false])) as { readonly hash: string }).hash
  beforeEach(async () => {
    await emptyDatabase(stores.db)
    await startChain()
    deps = await prepareDeps(stores, chain.url)
  })
  afterEach(async () => {
    for (const scanner of running.splice(0)) await scanner.stop()
    for (const client of clients.splice(0)) await client.close()
    await chain.stop()
  })

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
        await chain.stop()
        await startChain()
      } while ((await firstBlock()) === first)
    },
    source(change = {}, chainId = 31_337, rpcUrls = [chain.url]) {
      const node = { rpcUrls, chainId }
      const client = createChainClient(
        { live: {}, test: { ethereum: node } },
        'test',
        'ethereum',
        stores.ambient.metrics,
      )
      if (client === null) throw new Error('no client')
      clients.push(client)
      return { ...SOURCE, client, ...change }
    },
    scan(source = stage.source(), change = {}) {
      const scanner = startChainScanner({ ...deps, ...change }, source)
      running.push(scanner)
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
    untilHeight: (height) =>
      vi.waitFor(async () => expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height), PATIENCE),
    untilPayments: (expected) =>
      vi.waitFor(async () => expect(await stage.payments()).toMatchObject(expected), PATIENCE),
  }
  return stage
}

const SOURCE = {
  mode: 'test',
  network: 'ethereum',
  family: 'evm',
  createIndex: createWatchIndex,
  pollMs: 20,
  dropAfterMs: 500,
  finalityDepth: 65,
  batchMax: 50,
  development: true,
} as const

async function prepareDeps(stores: TestStores, rpcUrl: string): Promise<ScanDeps> {
  const wallets = createWalletRepository(stores.db)
  const row = { mode: 'test', family: 'evm', materialId: 'test:evm:stage', watchedOn: [] } as const
  await wallets.addDerived(row.materialId, [{ ...WATCHED, ...row }], 1)
  return {
    ...stores.ambient,
    kicker: { kick: () => {} },
    balances: createCoinBalanceRepository(stores.db),
    catalog: createCatalog({ live: {}, test: { ethereum: { rpcUrls: [rpcUrl], confirmations: CONFIRMATIONS } } }),
    commands: createChainCommandRepository(stores.db),
    cursors: createCursorRepository(stores.db),
    exceptions: createExceptionRepository(stores.db),
    invoices: createInvoiceRepository(stores.db),
    payments: createPaymentRepository(stores.db, stores.ambient.random),
    wallets,
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
