import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'
import { emptyDatabase } from '#test/support/empty-database.ts'
import { useStores } from '#test/support/stores.ts'

/** Blocks that must lie on a block to make it solid: more than the confirmations that the network is set to ask for. */
const SOLID_LAG = 4
const PAYER = `41${'d'.repeat(40)}`
const CONTRACT = `41${'c'.repeat(40)}`
const PATIENCE = { timeout: 8_000, interval: 20 }
const [ours] = createAddressBook().derive('tron', 'test', SANDBOX_KEYS.tron, 0, 1)
const watched = ours ?? { index: 0, address: '', matchKey: '' }

const stores = useStores()
let node: TronNode
let client: OpenChainClient
let scanner: ChainScanner
let deps: ScanDeps

beforeEach(async () => {
  await emptyDatabase(stores.db)
  node = await startTronNode({ blockTimeMs: null, solidLag: SOLID_LAG })
  node.mine()
  const networks = {
    live: {},
    test: { tron: { rpcUrls: [node.url], genesis: node.genesis, confirmations: 1 } },
  }
  const wallets = createWalletRepository(stores.db)
  const row = { mode: 'test', family: 'tron', materialId: 'test:tron:stage', watchedOn: [] } as const
  await wallets.addDerived(row.materialId, [{ ...watched, ...row }], 1)
  deps = {
    ...stores.runtime,
    marks: NO_MARKS,
    notifier: { notify: () => {} },
    catalog: createCatalog(networks),
    balances: createCoinBalanceRepository(stores.db),
    commands: createChainCommandRepository(stores.db),
    cursors: createCursorRepository(stores.db),
    exceptions: createExceptionRepository(stores.db),
    invoices: createInvoiceRepository(stores.db),
    payments: createPaymentRepository(stores.db, stores.runtime.random),
    wallets,
  }
  const opened = createChainClient(networks, 'test', 'tron', stores.runtime.metrics)
  if (opened === null) throw new Error('no client')
  client = opened
  scanner = startChainScanner(deps, {
    mode: 'test',
    network: 'tron',
    family: 'tron',
    client,
    createIndex: createWatchIndex,
    pollMs: 20,
    finalityDepth: CHAINS.tron.reorganisation.blocksMin,
    dropAfterMs: 1_000,
    batchMax: 20,
    development: true,
  })
  await untilHeight(1)
})
afterEach(async () => {
  await scanner.stop()
  await client.close()
  await node.stop()
})

async function payments() {
  const rows = await stores.db.connection.collection('payments').find().sort({ amountBase: 1 }).toArray()
  return rows.map((row) => ({
    key: String(row['key']),
    asset: row['asset'] as string | null,
    state: String(row['state']),
    height: row['block']?.height as number | undefined,
    amount: String(row['amountBase']),
  }))
}
const untilPayments = (expected: readonly object[]) =>
  vi.waitFor(async () => expect(await payments()).toMatchObject(expected), PATIENCE)
const untilHeight = (height: number) =>
  vi.waitFor(async () => expect((await deps.cursors.find('test', 'tron'))?.height).toBe(height), PATIENCE)

describe('a scanner of TRON', () => {
  // Guarantee: a payment confirms when its block is solid, however few confirmations the network is set to ask for.
  it('detects TRX and USDT, and confirms both only when their block is solid', async () => {
    await node.pay({ asset: 'trx_tron', to: watched.address, amountBase: 9_007_199_254_740_993n })
    await node.pay({ asset: 'usdt_tron', to: watched.address, amountBase: 1_500_000n })
    node.mine()
    const both = (state: string) => [
      { asset: 'usdt_tron', amount: '1500000', state, height: 2 },
      { asset: 'trx_tron', amount: '9007199254740993', state, height: 2 },
    ]
    await untilPayments(both('detected'))
    node.mine(SOLID_LAG - 1)
    await untilHeight(SOLID_LAG + 1)
    expect(await payments()).toMatchObject(both('detected'))
    node.mine()
    await untilPayments(both('confirmed'))
  })

  // Guarantee: a transaction that failed, or was refused inside, credits nobody.
  it('counts coins that a contract sends, and nothing of what failed', async () => {
    const call = { kind: 'call', owner: PAYER, contract: CONTRACT, data: '' } as const
    const payout = { from: CONTRACT, to: `41${watched.matchKey}`, amount: '5', note: 'call' }
    node.submit(call, { internals: [{ ...payout, rejected: true }, payout] })
    node.submit(call, { result: 'OUT_OF_ENERGY', internals: [payout] })
    node.submit({ kind: 'transfer', owner: PAYER, to: `41${watched.matchKey}`, amount: '7' }, { result: 'REVERT' })
    node.mine()
    await untilHeight(2)
    expect(await payments()).toMatchObject([{ asset: 'trx_tron', amount: '5', state: 'detected' }])
  })

  // Guarantee: one transfer is one payment, wherever it is mined; one that is dropped does not stay credited.
  it('follows a reorganisation: what is mined again stays itself, what is dropped is taken back', async () => {
    const kept = await node.pay({ asset: 'usdt_tron', to: watched.address, amountBase: 1n })
    await node.pay({ asset: 'usdt_tron', to: watched.address, amountBase: 2n })
    node.mine(2)
    await untilPayments([{ state: 'detected', height: 2 }, { state: 'detected' }])
    const [before] = await payments()
    await untilHeight(3)
    node.reorg(2, [[kept.txHash, 1]])
    await untilPayments([{ ...before, height: 3 }, { state: 'orphaned' }])
    node.mine(SOLID_LAG)
    await untilPayments([{ ...before, height: 3, state: 'confirmed' }, { state: 'orphaned' }])
    expect(await stores.db.connection.collection('payments').countDocuments()).toBe(2)
  })
})
