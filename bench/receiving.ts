import { randomBytes } from 'node:crypto'
import type { NetworkSettings } from '#shared/config/network-settings.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { BenchOptions } from './options.ts'

/** The asset of invoices with `--asset`. */
export const BENCH_ASSET = 'usdt_ethereum'
const NETWORK = 'ethereum'
const PLACE = { mode: 'test', family: 'evm' } as const
/** More than any machine creates in a second, distributed over the workspaces. */
const ADDRESSES_PER_SECOND = 4_000
/** Including warm-up and the responses to the template. */
const SPARE_SECONDS = 20
const SPARE_PER_WORKSPACE = 1_000
const RATES_EVERY_MS = 20_000
const HOUR_MS = 3_600_000

/** The network of the asset has a node, so that only watched addresses are issued; it is never called. */
export const NODE_SETTINGS: { readonly test: { readonly ethereum: Partial<NetworkSettings['test']['ethereum']> } } = {
  test: { [NETWORK]: { rpcUrls: ['http://127.0.0.1:9'], chainId: 31_337, confirmations: 3 } },
}

/**
 * Prepares what other processes do before a create: a wallet for each workspace, derived
 * and watched addresses, a scanner at its head and fresh rates. The addresses are invented, because derivation is not
 * measured. Returns a function that ends the publication of rates.
 */
export async function prepareReceiving(
  db: Database,
  workspaceIds: readonly string[],
  { seconds, rounds, print }: Pick<BenchOptions, 'seconds' | 'rounds' | 'print'>,
): Promise<() => void> {
  // Two kinds of run with two numbers of connections each.
  const total = (4 * seconds * rounds + SPARE_SECONDS) * ADDRESSES_PER_SECOND
  const perWorkspace = Math.ceil(total / workspaceIds.length) + SPARE_PER_WORKSPACE
  const startedAt = performance.now()
  for (const workspaceId of workspaceIds) await addWalletWith(db, workspaceId, perWorkspace)
  const took = ((performance.now() - startedAt) / 1_000).toFixed(0)
  print(`${perWorkspace} watched addresses for each of ${workspaceIds.length} workspaces in ${took} s`)
  await createCursorRepository(db).create({
    ...{ id: `test:${NETWORK}`, mode: 'test', network: NETWORK, height: 1, hash: '0x1', time: Date.now(), window: [] },
    // No scanner runs: as if it had polled its head for the whole time.
    ...{ headHeight: 1, headSeenAt: Date.now() + HOUR_MS, finalizedHeight: 1, genesisHash: '0x0', lease: null },
    ...{ status: 'live', haltReason: null },
  })
  await publishRates(db)
  const timer = setInterval(() => void publishRates(db), RATES_EVERY_MS)
  return () => clearInterval(timer)
}

async function addWalletWith(db: Database, workspaceId: string, count: number): Promise<void> {
  const wallets = createWalletRepository(db)
  const fingerprint = randomBytes(16).toString('hex')
  const materialId = `test:evm:${fingerprint}`
  const createdAt = Date.now()
  await wallets.upsertMaterial({
    ...{ ...PLACE, id: materialId, kind: 'xpub', fingerprint, sealed: '', sandbox: false, scriptType: null },
    ...{ nextIndex: 0, derivedCount: 0, returned: [], createdAt },
  })
  const rows = Array.from({ length: count }, (_, index): WatchedAddress => {
    const matchKey = randomBytes(20).toString('hex')
    return { ...PLACE, matchKey, address: `0x${matchKey}`, materialId, index, watchedOn: [NETWORK] }
  })
  await wallets.addDerived(materialId, rows, count)
  await wallets.insertWallet({
    ...{ ...PLACE, id: `wallet-${fingerprint}`, workspaceId, networks: [NETWORK], kind: 'xpub', materialId, createdAt },
    disabledAt: null,
  })
}

async function publishRates(db: Database): Promise<void> {
  const at = Date.now()
  const usdt = {
    price: '1.0002',
    sources: ['binance', 'coinbase', 'kraken', 'okx', 'bitfinex', 'bitstamp'],
    oldestAt: at,
  }
  const usd = { price: '1', sources: [], oldestAt: at }
  await createRateRepository(db).insert({
    at,
    guards: {},
    heardAt: {},
    usdPerSymbol: { USDT: usdt },
    fiatPerUsd: { USD: usd },
  })
}
