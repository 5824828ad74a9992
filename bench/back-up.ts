import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStores } from '#dev/embedded/stores.ts'
import { prepareCollections } from '#shared/db/backup/restore-archive.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createReconciliationRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { reconcile } from '#shared/usecases/reconciliation/reconcile.ts'
import { seedGrowth } from '#test/growth/seed.ts'
import { startWriter } from './back-up-writer.ts'
import { pause, startChild } from './child.ts'
import { compareCopy } from './compare-copy.ts'
import type { BenchOptions } from './options.ts'

/** Faults that are printed. */
const SHOWN = 10
/** Longest back-up or restore. */
const WITHIN_MS = 6 * 3_600_000

/**
 * Seeds the data of an installation after two years with `--invoices` invoices, backs it up with the command line as a process of its
 * own while invoices are made and changed, restores it into another database, and prints durations, sizes and the peak memory of both processes.
 * Then it compares the copy with the source and reconciles it; the status is 1 unless both find nothing wrong.
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
    // As in a restore: indexes that are built at the end cost a part of those that grow with each insert.
    await prepareCollections(source)
    await seedGrowth(source, invoices, print, () => migrate(source))
    const writer = startWriter(source, invoices)
    const taken = await run(name, 'create', file)
    const { changes, touched } = await writer.stop()
    // The seeded secrets are no real ones.
    const restored = await run(`${name}_copy`, 'restore', file, '--accept-unreadable')
    const { size } = statSync(file)
    print('')
    print('| | seconds | CPU seconds | documents | peak memory, MB |')
    print('|---|---:|---:|---:|---:|')
    const pace = Math.round(changes / taken.seconds)
    print(`| back-up beside ${pace} changes/s | ${row(taken, await documentsOf(source))} |`)
    print(`| restore, with verification and indexes | ${row(restored, await documentsOf(copy))} |`)
    print('')
    print(
      `archive: ${(size / 1e6).toFixed(1)} MB, ${await copy.collection(INVOICES).countDocuments()} invoices in the copy`,
    )
    const isSame = await compared(source, copy, touched, print)
    const isClean = await reconciled(copy, print)
    if (!isSame || !isClean) process.exitCode = 1
  } finally {
    await source.connection.dropDatabase()
    await copy.connection.dropDatabase()
    await Promise.all([source.close(), copy.close()])
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function compared(
  source: Database,
  copy: Database,
  touched: ReadonlySet<string>,
  print: BenchOptions['print'],
): Promise<boolean> {
  const begun = performance.now()
  const { same, changed, wrong } = await compareCopy(source, copy, touched)
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  print(
    `comparison, ${seconds} s: ${same} documents are the same, ${changed} were written meanwhile, ${wrong.length} are wrong`,
  )
  for (const one of wrong.slice(0, SHOWN)) print(`  ${one}`)
  return wrong.length === 0
}

/** The product's own check of every invoice against its payments and events. */
async function reconciled(copy: Database, print: BenchOptions['print']): Promise<boolean> {
  const begun = performance.now()
  const deps = {
    reconciliation: createReconciliationRepository(copy),
    ...{ cursors: createCursorRepository(copy), clock: { now: Date.now }, pause },
  }
  const { evaluated, notChecked, violations } = await reconcile(deps, { since: null, onProgress: () => undefined })
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  print(
    `reconciliation of the copy, ${seconds} s: ${evaluated} invoices, ${notChecked} not checked, ${violations.length} faults`,
  )
  for (const { invoiceId, invariant, words } of violations.slice(0, SHOWN))
    print(`  ${invoiceId} ${invariant}: ${words}`)
  return violations.length === 0 && notChecked === 0
}

const byte = (value: number): string => Buffer.alloc(32, value).toString('base64')

interface Measured {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakBytes: number
}

const row = ({ seconds, cpuSeconds, peakBytes }: Measured, documents: number): string =>
  `${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${documents} | ${(peakBytes / 1e6).toFixed(0)}`

async function documentsOf(db: Database): Promise<number> {
  const stats = await db.connection.getClient().db(db.name).stats()
  return Number(stats['objects'])
}

/** Runs a command to its end. Throws unless it succeeds. */
async function measured(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Measured> {
  const begun = performance.now()
  let [peakBytes, cpuSeconds] = [0, 0]
  const child = await startChild(args, env, async () => true)
  const until = begun + WITHIN_MS
  while (child.exitStatus() === null) {
    peakBytes = Math.max(peakBytes, child.peakBytes() ?? 0)
    cpuSeconds = Math.max(cpuSeconds, child.cpuSeconds() ?? 0)
    if (performance.now() > until) throw new Error(`${args.join(' ')} did not end`)
    await pause(50)
  }
  if (child.exitStatus() !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitStatus()}`)
  return { seconds: (performance.now() - begun) / 1_000, cpuSeconds, peakBytes }
}
