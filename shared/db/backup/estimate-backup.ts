import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { classOf } from '#shared/db/connection/collection-class.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { startMoment } from './backup-moments.ts'
import { readRaw } from './read-at.ts'

/** Documents that are read to measure the rate. */
const SAMPLE = 2_000

/** What a back-up has to read, and about how long that takes. */
export interface BackupEstimate {
  readonly documents: number
  /** BSON without compression. */
  readonly bytes: number
  /** Measured on some documents of the largest collection: reading and compressing them. */
  readonly bytesPerSecond: number
  readonly seconds: number
}

/** Counts from the store's statistics, rate from a measurement of at most some seconds. */
export async function estimateBackup(db: Database): Promise<BackupEstimate> {
  const names = MODELS.map(({ name }) => name).filter((name) => classOf(name).backup === 'kept')
  const sizes = await Promise.all(names.map((name) => sizeOf(db, name)))
  const documents = sizes.reduce((sum, size) => sum + size.documents, 0)
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const largest = sizes.toSorted((one, other) => other.bytes - one.bytes)[0]
  const bytesPerSecond = await measure(db, largest?.name ?? names[0] ?? '')
  return { documents, bytes, bytesPerSecond, seconds: Math.ceil(bytes / bytesPerSecond) }
}

async function sizeOf(db: Database, name: string) {
  const native = db.connection.getClient().db(db.name)
  const [stats] = await native
    .collection(name)
    .aggregate<{ size: number; count: number }>([
      { $collStats: { storageStats: {} } },
      { $project: { size: '$storageStats.size', count: '$storageStats.count' } },
    ])
    .toArray()
    // A collection that does not exist yet has no statistics.
    .catch(() => [])
  return { name, documents: Number(stats?.count ?? 0), bytes: Number(stats?.size ?? 0) }
}

async function measure(db: Database, name: string): Promise<number> {
  const { time } = await startMoment(db)
  const begun = performance.now()
  const parts: Buffer[] = []
  const command = { find: name, filter: {}, hint: { _id: 1 }, limit: SAMPLE }
  for await (const document of readRaw(db, command, { level: 'majority', afterClusterTime: time })) parts.push(document)
  const read = Buffer.concat(parts)
  await promisify(gzip)(read, { level: 6 })
  return Math.max(1, read.length) / Math.max(0.001, (performance.now() - begun) / 1_000)
}
