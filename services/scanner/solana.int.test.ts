import { Keypair } from '@solana/web3.js'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startSurfpoolNode } from '#dev/local-chain/surfpool-node.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { matchKeyOf } from '#shared/chains/families/solana/extract.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const PATIENCE = { timeout: 20_000, interval: 50 }
const PAID = [
  ['sol_solana', 5_000_000n],
  ['usdc_solana', 1_500_000n],
  ['usdt_solana', 7n],
] as const

interface Row {
  readonly asset: string
  readonly amount: string
  readonly state: string
  readonly height: number
}

async function storedPayments(): Promise<readonly Row[]> {
  const rows = await stores.db.connection.collection('payments').find().toArray()
  return rows
    .map(({ asset, amountBase, state, block }) => ({ asset, amount: String(amountBase), state, height: block?.height }))
    .sort((a, b) => a.asset.localeCompare(b.asset))
}

async function scanDeps(owner: string, settings: Parameters<typeof createCatalog>[0]): Promise<ScanDeps> {
  await migrate(stores.db)
  const wallets = createWalletRepository(stores.db)
  const row = { mode: 'test', family: 'solana', materialId: 'test:solana:stage', watchedOn: [] } as const
  await wallets.addDerived(row.materialId, [{ ...row, address: owner, matchKey: matchKeyOf(owner), index: 0 }], 1)
  return {
    ...stores.runtime,
    marks: NO_MARKS,
    notifier: { notify: () => {} },
    catalog: createCatalog(settings),
    balances: createCoinBalanceRepository(stores.db),
    commands: createChainCommandRepository(stores.db),
    cursors: createCursorRepository(stores.db),
    exceptions: createExceptionRepository(stores.db),
    invoices: createInvoiceRepository(stores.db),
    payments: createPaymentRepository(stores.db, stores.runtime.random),
    wallets,
  }
}

// Guarantee: a payment on Solana is announced when it is confirmed, and counts only when its slot is finalized.
it('detects payments of every Solana asset on a real node, and confirms them when their slots are finalized', async () => {
  const node = await startSurfpoolNode({ slotTimeMs: 50 })
  onTestFinished(() => node.stop())
  const settings = { live: {}, test: { solana: { rpcUrls: [node.url], genesis: 'any' } } }
  const client = createChainClient(settings, 'test', 'solana', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  onTestFinished(() => client.close())
  // Finality as far as the test lets it come: on a slow machine slots are final before a payment of them is seen.
  let finalMax = Number.POSITIVE_INFINITY
  const held: typeof client = {
    ...client,
    head: async () => {
      const head = await client.head()
      return { ...head, finalizedHeight: head.finalizedHeight && Math.min(head.finalizedHeight, finalMax) }
    },
  }
  const owner = Keypair.generate().publicKey.toBase58()
  const deps = await scanDeps(owner, settings)
  const { blocksMin: finalityDepth } = CHAINS.solana.reorganisation
  const source: ScanSource = {
    mode: 'test',
    network: 'solana',
    family: 'solana',
    client: held,
    createIndex: createWatchIndex,
    pollMs: 20,
    finalityDepth,
    dropAfterMs: 1_000,
    batchMax: 50,
    development: true,
  }
  const scanner = startChainScanner(deps, source)
  onTestFinished(() => scanner.stop())
  const cursor = async () => await deps.cursors.find('test', 'solana')
  await vi.waitFor(async () => expect((await cursor())?.status).toBe('live'), PATIENCE)

  finalMax = (await cursor())?.finalizedHeight ?? 0
  for (const [asset, amountBase] of PAID) await node.pay({ asset, to: owner, amountBase })
  const expected = (state: string) => PAID.map(([asset, amount]) => ({ asset, amount: String(amount), state }))
  await vi.waitFor(async () => expect(await storedPayments()).toMatchObject(expected('detected')), PATIENCE)
  const detected = await storedPayments()
  finalMax = Number.POSITIVE_INFINITY
  await vi.waitFor(async () => expect(await storedPayments()).toMatchObject(expected('confirmed')), PATIENCE)
  const finalized = (await cursor())?.finalizedHeight ?? 0
  for (const { height } of detected) expect(finalized).toBeGreaterThanOrEqual(height)
  expect((await storedPayments()).map(({ height }) => height)).toEqual(detected.map(({ height }) => height))
})
