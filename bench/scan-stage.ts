import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStores } from '#dev/embedded/stores.ts'
import { assemble } from '#dev/local-chain/assemble.ts'
import { DEVELOPMENT_PAYER } from '#dev/local-chain/pay.ts'
import { type LocalChain, startLocalChain } from '#dev/local-chain/start-local-chain.ts'
import { readProcfile } from '#scripts/start/procfile.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { type AssetId, networkOf } from '#shared/domain/enumerations.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { type Child, freePort, isReady, startChild } from './child.ts'
import type { BenchOptions } from './options.ts'

/** Blocks every 250 ms, as on the fastest supported network. */
export const NETWORK = 'arbitrum'
/** The token of the chain's transfers. */
export const TOKEN = 'usdt_arbitrum'
/** Chain id of the local chain. */
const CHAIN_ID = 31_337
/** How many watched addresses there are. */
export const WATCHED = 1_000_000
/** Transfers in the initial blocks. */
export const TRANSFERS = 90_000
/** Transfers in one transaction; each of those blocks has five. */
export const LOGS_PER_TX = 60
/** Every hundredth transfer goes to a watched address of an invoice. */
export const HIT_EVERY = 100
/** Blocks mined afterwards, with one transaction each. */
export const TIP_BLOCKS = 120

/** Initial blocks, besides the first. */
export const BLOCKS = 300

const DATABASE = 'bench_scan'
const TX_PER_BLOCK = 5
const FIRST = 2n ** 100n

/** A chain of bursts and the expected results. */
export interface Stage {
  readonly chain: LocalChain
  readonly db: Database
  readonly watches: Watches
  /** Starts a scanner process and resolves when it is ready. */
  startScanner(): Promise<Child>
}

/** Starts stores, chain and watches; `undo` receives the functions that end them, in order. */
export async function openStage({ print }: BenchOptions, undo: (() => Promise<unknown> | unknown)[]): Promise<Stage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-scan-'))
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl, roomy: true })
  undo.push(() => stores.stop())
  const logger = createLogger({ name: 'bench', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: DATABASE, logger })
  undo.push(async () => {
    await db.connection.dropDatabase()
    await db.close()
  })
  await db.connection.dropDatabase()
  await migrate(db)
  const chain = await startLocalChain({ chainId: CHAIN_ID, network: NETWORK, blockTimeMs: null })
  undo.push(() => chain.stop())
  await chain.rpc('anvil_setCode', [ASSETS[TOKEN].contract, burstTokenCode(ASSETS[TOKEN].decimals)])
  const transfers = TRANSFERS + TIP_BLOCKS * LOGS_PER_TX
  const watches = await seedWatches(db, {
    count: WATCHED,
    first: FIRST,
    every: HIT_EVERY,
    transfers,
    asset: TOKEN,
    print,
  })
  await fillChain(chain, print)
  const env = {
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'production',
    PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls,localhost-webhooks',
    PAYMESH_MONGO_DATABASE: DATABASE,
    PAYMESH_REDIS_PREFIX: DATABASE,
    PAYMESH_MASTER_KEY: randomBytes(32).toString('base64'),
    PAYMESH_KEY_PEPPER: randomBytes(32).toString('base64'),
    PAYMESH_PUBLIC_CHECKOUT_URL: 'https://pay.example.com',
    PAYMESH_PUBLIC_API_URL: 'https://api.example.com',
    PAYMESH_NETWORKS: JSON.stringify({
      test: { [NETWORK]: { rpcUrls: [chain.url], chainId: CHAIN_ID, confirmations: 3 } },
    }),
  }
  return {
    ...{ chain, db, watches: { ...watches, hits: TRANSFERS / HIT_EVERY } },
    async startScanner() {
      const health = await freePort()
      const child = await startChild(
        readProcfile().find(({ name }) => name === 'scanner')?.args ?? [],
        { ...env, PAYMESH_METRICS_PORT: String(health) },
        () => isReady(health),
      )
      undo.push(() => child.stop())
      return child
    },
  }
}

async function fillChain(chain: LocalChain, print: (line: string) => void): Promise<void> {
  for (let block = 0; block < BLOCKS; block += 1) {
    await mineBursts(chain, block * TX_PER_BLOCK * LOGS_PER_TX, TX_PER_BLOCK)
    if (block % 100 === 99) print(`mined ${block + 1} of ${BLOCKS} blocks of ${TX_PER_BLOCK * LOGS_PER_TX} transfers`)
  }
}

/** Mines a block of transactions whose transfers go to the addresses from the `offset`-th on. */
export async function mineBursts(chain: LocalChain, offset: number, transactions: number): Promise<void> {
  for (let index = 0; index < transactions; index += 1) {
    const data = burstCall(LOGS_PER_TX, FIRST + BigInt(offset + index * LOGS_PER_TX))
    const call = { from: DEVELOPMENT_PAYER, to: ASSETS[TOKEN].contract, gas: '0x100000', data }
    await chain.rpc('eth_sendTransaction', [call])
  }
  await chain.mine()
}

/** keccak256("Transfer(address,address,uint256)"), EIP-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * Runtime bytecode of a token of which one call emits many `Transfer` logs of the amount 1,000,000: calldata is a count and
 * a first recipient, one word each; recipients count up from there. Any call of 4 bytes returns `decimals`.
 */
export function burstTokenCode(decimals: number): string {
  return assemble(`
    0x04 CALLDATASIZE EQ @decimals JUMPI
    0x0f4240 0x00 MSTORE
    0x00                                       ; sent
    next: DUP1 0x00 CALLDATALOAD EQ @end JUMPI
    DUP1 0x20 CALLDATALOAD ADD                 ; recipient
    0x00 ${TRANSFER} 0x20 0x00 LOG3            ; from nobody, as a mint
    0x01 ADD @next JUMP
    end: 0x00 0x00 RETURN
    decimals: 0x${decimals.toString(16).padStart(2, '0')} 0x00 MSTORE 0x20 0x00 RETURN
  `)
}

/** Calldata for `count` transfers to the addresses `first`, `first` + 1, … */
export function burstCall(count: number, first: bigint): string {
  return `0x${[BigInt(count), first].map((value) => value.toString(16).padStart(64, '0')).join('')}`
}

const BATCH = 20_000

/** Watched addresses of a benchmark. */
export interface Watches {
  readonly keys: readonly string[]
  /** How many transfers of the chain go to one of them. */
  readonly hits: number
}

/**
 * Stores `count` watched addresses: random ones, and every `every`-th of `transfers` addresses that count up from `first`,
 * each of those held by an invoice.
 */
export async function seedWatches(
  db: Database,
  request: {
    readonly count: number
    readonly first: bigint
    readonly every: number
    readonly transfers: number
    readonly asset: AssetId
    readonly print: (line: string) => void
  },
): Promise<Watches> {
  const { count, first, every, transfers, asset, print } = request
  const hitKeys = Array.from({ length: Math.floor(transfers / every) }, (_, index) =>
    (first + BigInt(index * every)).toString(16).padStart(40, '0'),
  )
  const others = Array.from({ length: count - hitKeys.length }, () => randomBytes(20).toString('hex'))
  const keys = [...hitKeys, ...others]
  const wallets = createWalletRepository(db)
  for (let from = 0; from < keys.length; from += BATCH) {
    const rows = keys.slice(from, from + BATCH).map((matchKey, offset): WatchedAddress => {
      const place = { mode: 'test', family: 'evm', materialId: 'bench', index: from + offset } as const
      return { ...place, matchKey, address: `0x${matchKey}`, watchedOn: [networkOf(asset)] }
    })
    await wallets.addDerived('bench', rows, from + rows.length)
    if (from % 200_000 === 0) print(`${from + rows.length} of ${count} watched addresses`)
  }
  const invoices = createInvoiceRepository(db)
  const random = createRandom(Date.now)
  const at = Date.now()
  for (const [index, matchKey] of hitKeys.entries()) {
    const paymentMethod = samplePaymentMethod(matchKey, at, { asset, network: networkOf(asset) })
    await invoices.insert(sampleInvoice(random, { number: index + 1, at, state: { paymentMethods: [paymentMethod] } }))
  }
  return { keys, hits: hitKeys.length }
}
