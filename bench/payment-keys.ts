import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type mongoose from 'mongoose'
import { startStores } from '#scripts/embedded/stores.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { blockToDocument, unseenDocument } from '#shared/db/payments/payment-mapping.ts'
import { FORMER_KEY_INDEX, KEY_INDEX, PAYMENTS, type PaymentDocument } from '#shared/db/payments/payment-model.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import type { BenchOptions } from './options.ts'

const BATCH = 500
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const base58 = (length: number): string => [...randomBytes(length)].map((byte) => BASE58[byte % 58]).join('')
const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

/** What a transfer of each chain is called, with random hashes and addresses of the real lengths. */
const TRANSFERS: readonly (() => { network: NetworkId; txHash: string; to: string; tail: string })[] = [
  () => ({ network: 'ethereum', txHash: `0x${hex(32)}`, to: hex(20), tail: `log:${randomBytes(1)[0]}` }),
  () => ({ network: 'bitcoin', txHash: hex(32), to: hex(20), tail: '1' }),
  () => ({ network: 'tron', txHash: hex(32), to: hex(20), tail: 'l0' }),
  () => ({ network: 'ethereum', txHash: `0x${hex(32)}`, to: hex(20), tail: 'n' }),
]

type Side = 'text' | 'digest'
const SIDES: readonly Side[] = ['text', 'digest']

/**
 * Stores the same payments, confirmed and applied, under the unique index of their key's text, as the version before did, and under that of
 * its digest, in turns; prints bytes per payment and majority inserts per second of both.
 */
export async function benchPaymentKeys({ invoices: count, print }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-keys-'))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl, roomy: true })
  const sides = { text: await open(stores.mongoUrl, 'text'), digest: await open(stores.mongoUrl, 'digest') }
  try {
    const took = { text: 0, digest: 0 }
    const random = createRandom(Date.now)
    for (let from = 0; from < count; from += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, nth) => paymentAt(from + nth, random.uuid))
      for (const side of (from / BATCH) % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const stored = side === 'digest' ? rows : rows.map(({ keyDigest: _none, ...row }) => row)
        const begun = performance.now()
        await sides[side].collection(PAYMENTS).insertMany(stored, { ordered: false })
        took[side] += performance.now() - begun
      }
    }
    print('')
    print('| unique index on | BSON | data on disk | key index | all indexes | inserts/s |')
    print('|---|---:|---:|---:|---:|---:|')
    for (const side of SIDES) {
      const sizes = await sizesOf(sides[side])
      const figures = [sizes.bson, sizes.data, sizes.key, sizes.indexes].map((bytes) => (bytes / count).toFixed(0))
      print(`| ${[side, ...figures, ((count * 1_000) / took[side]).toFixed(0)].join(' | ')} |`)
    }
    print('')
    print(`bytes per payment, of ${count} payments; inserts wait for a journaled majority, ${BATCH} at a time`)
  } finally {
    for (const db of Object.values(sides)) {
      await db.connection.dropDatabase()
      await db.close()
    }
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function open(url: string, side: Side): Promise<Database> {
  const logger = createLogger({ name: 'bench', level: 'silent' })
  const db = await connectDatabase({ url, name: `keys_${side}_${randomUUID().slice(0, 8)}`, logger })
  await migrate(db)
  if (side === 'text') {
    await db.connection.getClient().db(db.name).command({ collMod: PAYMENTS.name, validator: {} })
    await db.collection(PAYMENTS).dropIndex(KEY_INDEX)
    await db.collection(PAYMENTS).createIndex({ key: 1 }, { name: FORMER_KEY_INDEX, unique: true })
  }
  return db
}

function paymentAt(nth: number, uuid: () => string): PaymentDocument {
  const { network, txHash, to, tail } = (TRANSFERS[nth % TRANSFERS.length] as (typeof TRANSFERS)[number])()
  const at = Date.now()
  const height = 20_000_000 + Math.floor(nth / 20)
  const block = { height, hash: `0x${height.toString(16).padStart(8, '0')}${base58(56)}`, time: at }
  const observation = {
    ...({ key: `live:${network}:${txHash}:${tail}`, mode: 'live', network, asset: 'usdt_ethereum' } as const),
    ...{ invoiceId: uuid(), workspaceId: `workspace-${nth % 7}`, matchKey: to, toAddress: to, fromAddress: hex(20) },
    ...{ amountBase: 1_000_000n + BigInt((nth * 7_919) % 90_000_000), txHash, outputIndex: nth % 3 },
    ...{ contract: `0x${'cc'.repeat(20)}`, block, requiredConfirmations: 12, needsFinality: false },
    ...{ spends: network === 'bitcoin' ? [`${hex(32)}:0`] : [], firstSeenAt: at, uncountedReason: null },
  }
  return {
    ...unseenDocument(observation, uuid(), at),
    ...{ state: 'confirmed', block: blockToDocument(block), confirmAt: height + 11, confirmedAt: new Date(at) },
    ...{ version: 2, scanEpoch: 1, counted: true },
  }
}

/** Bytes that are in use: space that the store has freed inside its files is not counted. */
async function sizesOf(db: Database) {
  const native = db.connection.getClient().db(db.name)
  await native.admin().command({ fsync: 1 })
  const stats = await native.command({ collStats: PAYMENTS.name, indexDetails: true })
  const freeIn = (details: mongoose.mongo.Document | undefined): number =>
    Number(details?.['block-manager']?.['file bytes available for reuse'] ?? 0)
  const indexes = Object.entries(stats['indexSizes'] as Record<string, number>).map(
    ([name, bytes]) => [name, bytes - freeIn(stats['indexDetails']?.[name])] as const,
  )
  const key = indexes.find(([name]) => name === KEY_INDEX || name === FORMER_KEY_INDEX)?.[1] ?? 0
  return {
    bson: Number(stats['size']),
    data: Number(stats['storageSize']) - freeIn(stats['wiredTiger']),
    key,
    indexes: indexes.reduce((sum, [, bytes]) => sum + bytes, 0),
  }
}
