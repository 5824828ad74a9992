import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStores } from '#scripts/embedded/stores.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { seedGrowth } from '#test/growth/seed.ts'
import { pause, startChild } from './child.ts'
import type { BenchOptions } from './options.ts'

/** Changes per second while the back-up runs: those of some ten invoices. */
const CHANGES_PER_SECOND = 200
/** Longest back-up or restore. */
const WITHIN_MS = 6 * 3_600_000

/**
 * Seeds the data of an installation after two years with `--invoices` invoices, backs it up with the command line as a process of its
 * own while invoices and payments change, restores it into another database, and prints durations, sizes and the peak memory of both processes.
 */
export async function benchBackUp({ invoices, print }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-back-up-'))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl, roomy: true })
  const name = `backup_${randomUUID().slice(0, 8)}`
  const open = (database: string) =>
    connectDatabase({ url: stores.mongoUrl, name: database, logger: createLogger({ name: 'bench', level: 'silent' }) })
  const [source, copy] = [await open(name), await open(`${name}_copy`)]
  const file = join(dataDir, 'bench.backup')
  const keyFile = join(dataDir, 'backup.key')
  writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'))
  const run = (database: string, ...args: readonly string[]) =>
    measured(['scripts/paymesh.mjs', 'backup', ...args, '--key-file', keyFile, '--json'], {
      ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl, PAYMESH_MONGO_DATABASE: database },
      ...{ PAYMESH_MASTER_KEY: byte(7), PAYMESH_KEY_PEPPER: byte(8), PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls' },
      HOME: process.env['HOME'] ?? '',
    })
  try {
    await migrate(source)
    await seedGrowth(source, invoices, print)
    const writer = startWriter(source)
    const taken = await run(name, 'create', file)
    const changes = await writer.stop()
    // The seeded secrets are no real ones.
    const restored = await run(`${name}_copy`, 'restore', file, '--accept-unreadable')
    const counted = await copy.collection(INVOICES).countDocuments()
    const { size } = statSync(file)
    print('')
    print('| | seconds | documents | peak memory, MB |')
    print('|---|---:|---:|---:|')
    print(
      `| back-up beside ${Math.round(changes / taken.seconds)} changes/s | ${row(taken, await documentsOf(source))} |`,
    )
    print(`| restore, with verification and indexes | ${row(restored, await documentsOf(copy))} |`)
    print('')
    print(`archive: ${(size / 1e6).toFixed(1)} MB; ${counted} of ${invoices} invoices in the copy`)
    if (counted !== invoices) process.exitCode = 1
  } finally {
    await source.connection.dropDatabase()
    await copy.connection.dropDatabase()
    await Promise.all([source.close(), copy.close()])
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const byte = (value: number): string => Buffer.alloc(32, value).toString('base64')

interface Measured {
  readonly seconds: number
  readonly peakBytes: number
}

const row = ({ seconds, peakBytes }: Measured, documents: number): string =>
  `${seconds.toFixed(1)} | ${documents} | ${(peakBytes / 1e6).toFixed(0)}`

async function documentsOf(db: Database): Promise<number> {
  const stats = await db.connection.getClient().db(db.name).stats()
  return Number(stats['objects'])
}

/** Runs a command to its end. Throws unless it succeeds. */
async function measured(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Measured> {
  const begun = performance.now()
  let peakBytes = 0
  const child = await startChild(args, env, async () => true)
  const until = begun + WITHIN_MS
  while (child.exitStatus() === null) {
    peakBytes = Math.max(peakBytes, child.peakBytes() ?? 0)
    if (performance.now() > until) throw new Error(`${args.join(' ')} did not end`)
    await pause(50)
  }
  if (child.exitStatus() !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitStatus()}`)
  return { seconds: (performance.now() - begun) / 1_000, peakBytes }
}

/** Changes invoices and payments all over their collections; `stop` returns how many. */
function startWriter(db: Database) {
  let isDone = false
  let changes = 0
  const work = (async () => {
    const sampled = [{ $sample: { size: 2_000 } }, { $project: { _id: 1 } }]
    const [invoices, payments] = [
      await db.collection(INVOICES).aggregate<{ _id: string }>(sampled).toArray(),
      await db.collection(PAYMENTS).aggregate<{ _id: string }>(sampled).toArray(),
    ]
    while (!isDone) {
      const nth = changes % 2_000
      const [invoice, payment] = [invoices[nth % invoices.length], payments[nth % payments.length]]
      if (invoice !== undefined) await db.collection(INVOICES).updateOne({ _id: invoice._id }, { $inc: { version: 1 } })
      if (payment !== undefined)
        await db.collection(PAYMENTS).updateOne({ _id: payment._id }, { $set: { updatedAt: new Date() } })
      changes += 2
      await pause(2_000 / CHANGES_PER_SECOND)
    }
    return changes
  })()
  return {
    stop: async (): Promise<number> => {
      isDone = true
      return await work
    },
  }
}
