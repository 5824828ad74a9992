import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStores } from '#dev/embedded/stores.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWatchPackRepository } from '#shared/db/wallets/watch-pack-repository.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { packWatches } from '#shared/usecases/watches/pack-watches.ts'
import { standIn } from '#test/support/stand-in.ts'
import type { BenchOptions } from './options.ts'

const HOT = 100_000
const BATCH = 20_000
const NETWORKS = [1, 5]
/** With `--only packs`: hashes of so many old addresses, whose rows are left out because nothing of a start reads them. */
const PACKED = 10_000_000

/**
 * The start of a scanner with `--invoices` old addresses and 100,000 hot ones: time until every address is known, and memory, for one network
 * and for five of one family in a process. `--only packs` stores ten million old addresses as packs alone, without their rows.
 */
export async function benchWatches({ invoices, only, print }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-watches-'))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl, roomy: true })
  const name = `bench_watches_${randomUUID().slice(0, 8)}`
  const db = await connectDatabase({
    ...{ url: stores.mongoUrl, name },
    logger: createLogger({ name: 'bench', level: 'silent' }),
  })
  try {
    await migrate(db)
    const old = only === 'packs' ? PACKED : invoices
    if (only === 'packs') await storePacks(db, old, print)
    else await packOld(db, old, print)
    await addAddresses(db, old, HOT)
    for (const networks of NETWORKS) {
      const { ms, cpuMs, bytes, hot, cold } = await start(stores.mongoUrl, name, networks)
      print(
        `${networks} network${networks > 1 ? 's' : ''} in a process: ${hot} hot and ${cold} old addresses after ${(ms / 1_000).toFixed(1)} s, ` +
          `${(cpuMs / 1_000).toFixed(1)} s of CPU with its start, at most ${(bytes / 1e6).toFixed(0)} MB`,
      )
    }
  } finally {
    await db.connection.dropDatabase()
    await db.close()
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function addAddresses(db: Database, first: number, count: number): Promise<void> {
  const wallets = createWalletRepository(db)
  for (let from = 0; from < count; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, offset): WatchedAddress => {
      const matchKey = randomBytes(20).toString('hex')
      const place = { mode: 'live', family: 'evm', materialId: 'bench', index: first + from + offset } as const
      return { ...place, matchKey, address: `0x${matchKey}`, watchedOn: ['ethereum'] }
    })
    await wallets.addDerived('bench', rows, first + from + rows.length)
  }
}

/** Rows of old addresses, moved into packs by the job, for which every invoice is over. */
async function packOld(db: Database, count: number, print: (line: string) => void): Promise<void> {
  await addAddresses(db, 0, count)
  const begun = performance.now()
  const moved = await packWatches(
    {
      clock: { now: Date.now },
      random: standIn({ bytes: randomBytes }),
      wallets: createWalletRepository(db),
      watchPacks: createWatchPackRepository(db),
      invoices: standIn({ claimsCold: async (claims) => new Set(claims) }),
    },
    new Map(),
  )
  print(`${moved} addresses packed in ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
}

async function storePacks(db: Database, count: number, print: (line: string) => void): Promise<void> {
  const packs = createWatchPackRepository(db)
  const salt = randomBytes(8)
  for (let seq = 0, stored = 0; stored < count; seq += 1) {
    const size = Math.min(65_536, count - stored)
    await packs.put('live', 'evm', { seq, count: size, salt, hashes: randomBytes(8 * size) }, 0)
    stored += size
  }
  print(`${count} old addresses stored as packs, without rows`)
}

interface StartCost {
  readonly ms: number
  /** CPU time of the whole process, loading of its modules included. */
  readonly cpuMs: number
  readonly bytes: number
  readonly hot: number
  readonly cold: number
}

/** A separate process that loads watches for so many networks at once. */
async function start(mongoUrl: string, name: string, networks: number): Promise<StartCost> {
  const script = new URL('watches-child.ts', import.meta.url).pathname
  const env = { ...process.env, BENCH_MONGO: mongoUrl, BENCH_DATABASE: name, BENCH_NETWORKS: String(networks) }
  const child = spawn(process.execPath, ['--import', 'tsx', script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (bytes: Buffer) => {
    text += bytes.toString('utf8')
  })
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`the start ended with ${status}`)
  return JSON.parse(text) as StartCost
}
