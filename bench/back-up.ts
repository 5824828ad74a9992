import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type mongoose from 'mongoose'
import { startStores } from '#dev/embedded/stores.ts'
import { listChanges } from '#scripts/backup/changes-folder.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { prepareCollections } from '#shared/db/backup/restore-archive.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createReconciliationRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { reconcile } from '#shared/usecases/reconciliation/reconcile.ts'
import { seedGrowth } from '#test/growth/seed.ts'
import { type BenchWriter, startWriter } from './back-up-writer.ts'
import { type Child, pause, startChild } from './child.ts'
import type { BenchOptions } from './options.ts'
import { signSeed } from './signed-seed.ts'

/** Faults that are printed. */
const SHOWN = 10
/** Longest back-up or restore. */
const WITHIN_MS = 6 * 3_600_000

/** Files of changes that are made while the writer works, before it ends. */
const CHANGES = 2

/**
 * Seeds the data of an installation after two years with `--invoices` invoices, and backs it up as production does, with `backup run --every` as a process of
 * its own, while invoices are made and changed: an archive, then files of changes. Once one holds the last write, it restores all into another database, and
 * prints durations, sizes and the peak memory of both processes. Then it compares the copy with the source and reconciles it; the status is 1 unless both find
 * nothing wrong.
 */
export async function benchBackUp({ invoices, print }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-back-up-'))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl, roomy: true })
  const name = `backup_${randomUUID().slice(0, 8)}`
  const open = (database: string) =>
    connectDatabase({ url: stores.mongoUrl, name: database, logger: createLogger({ name: 'bench', level: 'silent' }) })
  const [source, copy] = [await open(name), await open(`${name}_copy`)]
  const folder = join(dataDir, 'archives')
  mkdirSync(folder)
  const keyFile = join(dataDir, 'backup.key')
  writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'))
  const marksDir = join(dataDir, 'marks')
  const start = (database: string, ...args: readonly string[]) =>
    startMeasured(['scripts/paymesh.mjs', 'backup', ...args, '--key-file', keyFile, '--json'], {
      ...{
        MONGO_URL: stores.mongoUrl,
        REDIS_URL: stores.redisUrl,
        PAYMESH_MONGO_DATABASE: database,
        PAYMESH_MARKS_DIR: marksDir,
      },
      ...{ PAYMESH_MASTER_KEY: byte(7), PAYMESH_KEY_PEPPER: byte(8), PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls' },
      HOME: process.env['HOME'] ?? '',
    })
  try {
    // As in a restore: indexes that are built at the end cost a part of those that grow with each insert.
    await prepareCollections(source)
    await seedGrowth(source, invoices, print, () => migrate(source))
    await signSeed(source, Buffer.alloc(32, 7), marksDir)
    const running = await start(name, 'run', folder, '--every', '24')
    const found = await copyBeside(running, folder, startWriter(source, invoices))
    const restored = await ended(await start(`${name}_copy`, 'restore', found.file))
    print('')
    print('| | seconds | CPU seconds | documents | peak memory, MB |')
    print('|---|---:|---:|---:|---:|')
    print(
      `| archive, with its verification, beside ${found.pace} changes/s | ${row(found.archive, await documentsOf(source))} |`,
    )
    print(`| restore, with verification and indexes | ${row(restored, await documentsOf(copy))} |`)
    print('')
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
    print(
      `archive: ${megabytes(found.bytes)}, ${await copy.collection(INVOICES).countDocuments()} invoices in the copy`,
    )
    print(
      `changes: ${found.changes} files, ${megabytes(found.changesBytes)}; at most ${found.uncopiedSeconds.toFixed(1)} s of writes were in none`,
    )
    const isSame = await compared(source, copy, print)
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

async function compared(source: Database, copy: Database, print: BenchOptions['print']): Promise<boolean> {
  const begun = performance.now()
  const { same, wrong } = await compareCopy(source, copy)
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  print(`comparison, ${seconds} s: ${same} documents are the same, ${wrong.length} are wrong`)
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

interface Usage {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakBytes: number
}

const row = ({ seconds, cpuSeconds, peakBytes }: Usage, documents: number): string =>
  `${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${documents} | ${(peakBytes / 1e6).toFixed(0)}`

async function documentsOf(db: Database): Promise<number> {
  const stats = await db.connection.getClient().db(db.name).stats()
  return Number(stats['objects'])
}

interface RunningChild {
  readonly child: Child
  readonly begun: number
  /** What it has used until now. */
  used(): Usage
}

async function startMeasured(args: readonly string[], env: Readonly<Record<string, string>>): Promise<RunningChild> {
  const begun = performance.now()
  const child = await startChild(args, env, async () => true)
  let [peakBytes, cpuSeconds] = [0, 0]
  const used = (): Usage => {
    peakBytes = Math.max(peakBytes, child.peakBytes() ?? 0)
    cpuSeconds = Math.max(cpuSeconds, child.cpuSeconds() ?? 0)
    return { seconds: (performance.now() - begun) / 1_000, cpuSeconds, peakBytes }
  }
  return { child, begun, used }
}

/** Waits until `isSo`; throws when the process works too long. */
async function until({ begun, used }: RunningChild, isSo: () => boolean): Promise<Usage> {
  while (!isSo()) {
    used()
    if (performance.now() > begun + WITHIN_MS) throw new Error('a command of the benchmark did not end')
    await pause(50)
  }
  return used()
}

/** Waits for the end of a command. Throws unless it succeeds. */
async function ended(running: RunningChild): Promise<Usage> {
  const used = await until(running, () => running.child.exitStatus() !== null)
  if (running.child.exitStatus() !== 0) throw new Error(`the restore ended with ${running.child.exitStatus()}`)
  return used
}

/** The longest time from the beginning of one file of changes to the end of the next, seconds: what was written within it could be lost. */
async function longestUncopied(folder: string): Promise<number> {
  const { files } = await listChanges(folder)
  const ordered = files.toSorted((one, other) => one.number - other.number)
  const gaps = ordered
    .slice(1)
    .map(({ name }, index) => statSync(join(folder, name)).mtimeMs - (ordered[index]?.createdAt ?? 0))
  return Math.max(0, ...gaps) / 1_000
}

/** An archive, files of changes beside the writer, and one more after its last write. */
async function copyBeside(running: RunningChild, folder: string, writer: BenchWriter) {
  const sizes = (ending: string): readonly number[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => statSync(join(folder, name)).size)
  const bytesOf = (ending: string): number => sizes(ending).reduce((sum, bytes) => sum + bytes, 0)
  const untilFiles = async (ending: string, count: number): Promise<Usage> =>
    await until(running, () => {
      if (running.child.exitStatus() !== null) throw new Error('the back-up ended')
      return sizes(ending).length >= count
    })
  try {
    const archive = await untilFiles('.backup', 1)
    await untilFiles('.changes', sizes('.changes').length + CHANGES)
    const { changes } = await writer.stop()
    const pace = Math.round(changes / running.used().seconds)
    // The next one may have begun before the last write.
    await untilFiles('.changes', sizes('.changes').length + 2)
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.backup')) ?? '')
    const sums = { bytes: bytesOf('.backup'), changes: sizes('.changes').length, changesBytes: bytesOf('.changes') }
    return { file, archive, pace, ...sums, uncopiedSeconds: await longestUncopied(folder) }
  } finally {
    await writer.stop()
    await running.child.stop()
  }
}

/** What a restore leaves as it was; its precautions write to the other collections. */
const COMPARED = [INVOICES, PAYMENTS, EVENTS, WEBHOOK_DELIVERIES, WEBHOOK_ATTEMPTS, EXCEPTIONS, ADDRESSES, AUDIT_LOG]
/** Rows of the back-up and of the restore themselves, which the other database does not have. */
const OF_THE_COPYING = /^(backup\.ended|installation-restored):/
const BATCH = 2_000

/** Result of a comparison, in documents. */
interface Comparison {
  readonly same: number
  /** Different or missing on one side, as `<collection> <id>`. */
  readonly wrong: readonly string[]
}

/** Compares documents byte by byte, in the order of their ids. */
async function compareCopy(source: Database, copy: Database): Promise<Comparison> {
  let same = 0
  const wrong: string[] = []
  for (const { name } of COMPARED) {
    const [ours, theirs] = [rawOf(source, name), rawOf(copy, name)]
    let [one, other] = [await ours.next(), await theirs.next()]
    while (one.done !== true || other.done !== true) {
      const order = compareIds(one.value?.id, other.value?.id)
      const id = (order <= 0 ? one.value?.id : other.value?.id) ?? ''
      if (order === 0 && one.value?.bytes.equals(other.value?.bytes ?? Buffer.alloc(0)) === true) same += 1
      // The restore derives addresses ahead.
      else if (!OF_THE_COPYING.test(id) && !(name === ADDRESSES.name && order > 0)) wrong.push(`${name} ${id}`)
      if (order <= 0) one = await ours.next()
      if (order >= 0) other = await theirs.next()
    }
  }
  return { same, wrong }
}

/** Ids in the order of the store, which is that of their UTF-8 bytes; an absent one is the last. */
function compareIds(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? 1 : -1
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

async function* rawOf(
  db: Database,
  name: string,
): AsyncGenerator<{ readonly id: string; readonly bytes: Buffer }, undefined> {
  const options = { raw: true, sort: { _id: 1 }, batchSize: BATCH } as mongoose.mongo.FindOptions
  const native = db.connection.getClient().db(db.name)
  for await (const found of native.collection(name).find({}, options)) {
    const bytes = Buffer.from(found as unknown as Buffer)
    yield { id: idOf(bytes), bytes }
  }
}

/** `_id` is the first field of a stored document, and a text: BSON type 2, its name, its length with the final zero, its bytes. */
function idOf(bytes: Buffer): string {
  if (bytes[4] !== 2 || bytes.toString('latin1', 5, 9) !== '_id\0')
    throw new Error('a document begins without a text _id')
  return bytes.toString('utf8', 13, 13 + bytes.readInt32LE(9) - 1)
}
