import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import type { TestStores } from '#test/support/stores.ts'
import type { Account } from './payers.ts'

/** Confirmations of the network. */
export const CONFIRMATIONS = 3
export const FINALITY_DEPTH = 16
export const COIN = 'eth_ethereum'

/** The network as a scanner reads it, but for its client and pace. */
export const SOURCE = {
  mode: 'test',
  network: 'ethereum',
  family: 'evm',
  pollMs: 10,
  dropAfterMs: 500,
  finalityDepth: FINALITY_DEPTH,
  batchMax: 8,
  development: false,
  createIndex: createWatchIndex,
} as const satisfies Partial<ScanSource>

const networksOf = (url: string): NetworkSettings => ({
  live: {},
  test: { ethereum: { rpcUrls: [url], confirmations: CONFIRMATIONS, chainId: 31_337, genesis: 'any' } },
})

/** A client of the node. */
export function openClient(stores: TestStores, url: string): OpenChainClient {
  const client = createChainClient(networksOf(url), 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  return client
}

/** What a scanner works with. */
export function depsOf(stores: TestStores, clock: ScanDeps['clock']): ScanDeps {
  return {
    ...stores.runtime,
    ...createRepositories(stores.db, stores.runtime),
    clock,
    marks: NO_MARKS,
    notifier: { notify: () => {} },
    catalog: createCatalog(networksOf('http://127.0.0.1:1')),
  }
}

/** Stores an invoice at an account. */
export async function openInvoiceFor(
  stores: TestStores,
  { address, matchKey }: Account,
  invoice: {
    readonly asset: AssetId
    readonly status: 'pending' | 'expired'
    readonly at: number
    readonly endsAt: number
    readonly number: number
  },
): Promise<void> {
  const { asset, status, at, endsAt, number } = invoice
  const coin = asset === COIN ? ({ symbol: 'ETH', decimals: 18, coin: true } as const) : {}
  const method = { ...samplePaymentMethod(matchKey, at, { asset, ...coin }), address }
  const isOpen = status === 'pending'
  const state = {
    ...{ paymentMethods: [method], status },
    ...(isOpen ? { expiresAt: endsAt, nextActionAt: endsAt } : { expiresAt: at - 60_000, nextActionAt: null }),
  }
  await createInvoiceRepository(stores.db).insert(sampleInvoice(stores.runtime.random, { at, number, state }))
}
