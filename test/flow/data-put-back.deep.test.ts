import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Invoice } from '#clients/typescript/src/main.ts'
import { findMongod } from '#scripts/embedded/find-mongod.ts'
import { type MongoStore, startMongoStore } from '#scripts/embedded/mongo-store.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { createIssuedRepository } from '#shared/db/restore/issued-repository.ts'
import { nextOf } from '#shared/domain/marks/mark-fields.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { openWorld, type World } from '#test/support/world.ts'
import { type Rig, startRig } from '../../chaos/rig.ts'

/**
 * The data files of the store are put back, as a snapshot of a volume would be, under a Redis and processes that lived on. What was issued in the
 * lost minutes is known to Redis alone.
 */
const START_MS = 600_000
/** Invoices of the lost minutes, and since. */
const COUNT = EVERY_CASE ? 400 : 20
const PATIENCE = { timeout: 90_000, interval: 250 }
const folder = mkdtempSync(join(tmpdir(), 'paymesh-put-back-'))
const [data, copy] = [join(folder, 'mongo'), join(folder, 'copy')]
let store: MongoStore
let rig: Rig
let world: World

const start = async (preferredPort: number) => {
  const binary = await findMongod(() => undefined)
  store = await startMongoStore({ binary, dir: data, preferredPort, roomy: false })
}
const xpub = () => HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey
const addWallet = async (family: string, value: string) =>
  await world.cli<{ id: string }>(
    ...['wallet', 'add', '--workspace', world.workspaceId, '--mode', 'test', '--family', family],
    ...['--kind', 'xpub', '--value', value, '--start-index', '0'],
  )

beforeAll(async () => {
  await start(0)
  rig = await startRig({ dir: join(folder, 'rig'), mongoUrl: store.url, report: () => {} })
  world = await openWorld(rig.dataDir, rig.stack.dev)
}, START_MS)
afterAll(async () => {
  await world?.close()
  await rig?.stop()
  await store?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Creates until it succeeds: while the store catches up with the marks, the answer is that no wallet is there. */
async function patientInvoice(asset: 'usdt_ethereum' | 'usdt_tron'): Promise<Invoice> {
  return await vi.waitFor(() => world.createInvoice({ asset }), PATIENCE)
}

async function createUnderLoad(count: number): Promise<readonly Invoice[]> {
  const made: Invoice[] = []
  const worker = async () => {
    while (made.length < count) made.push(await patientInvoice('usdt_ethereum'))
  }
  await Promise.all([worker(), worker()])
  return made
}

/** Resolves once the marks in Redis name everything that the store has issued: they are written each second. */
async function untilMarked(): Promise<void> {
  const { mongoUrl, mongoDatabase, redisUrl, redisPrefix } = parseConfig(readEnvironment(rig.dataDir) ?? {}).stores
  const logger = createLogger({ name: 'test', level: 'silent' })
  const db = await connectDatabase({ url: mongoUrl, name: mongoDatabase, logger })
  const redis = connectRedis({ url: redisUrl ?? '', prefix: redisPrefix, logger })
  try {
    await redis.waitUntilHealthy(10_000)
    const record = await createInstallationLifeRepository(db).read()
    await vi.waitFor(async () => {
      const texts = await createRedisMarkPlace(redis).read(record, 'all')
      for (const { materialId, nextIndex } of await createIssuedRepository(db).listCounters())
        expect(Number.parseInt(texts.get(nextOf(materialId))?.[0] ?? '', 10)).toBe(nextIndex)
    }, PATIENCE)
  } finally {
    await redis.close()
    await db.close()
  }
}

const addressesOf = (invoices: readonly Invoice[]) => invoices.map(({ crypto }) => crypto?.address ?? '')

// Guarantee: no address and no number is issued twice, however the database came back.
test('data files of before issue nothing a second time', { timeout: START_MS }, async () => {
  await addWallet('evm', xpub())
  await vi.waitFor(() => world.createInvoice({ asset: 'usdt_ethereum' }), PATIENCE)
  const { port } = store
  await store.stop()
  cpSync(data, copy, { recursive: true })
  await start(port)

  await patientInvoice('usdt_ethereum')
  const lost = await createUnderLoad(COUNT)
  const late = xpub()
  await addWallet('tron', late)
  const lostTron = await patientInvoice('usdt_tron')
  const paid = lost[0] as Invoice
  await untilMarked()
  await store.stop()
  rmSync(data, { recursive: true })
  cpSync(copy, data, { recursive: true })
  await start(port)

  const since = [await patientInvoice('usdt_ethereum'), ...(await createUnderLoad(COUNT))]
  const known = new Set(addressesOf([...lost, lostTron]))
  expect(addressesOf(since).filter((address) => known.has(address))).toEqual([])
  const numbers = new Set(lost.map(({ number }) => number))
  expect(since.map(({ number }) => number).filter((number) => numbers.has(number))).toEqual([])
  expect(new Set(addressesOf(since)).size).toBe(since.length)

  // A wallet that the snapshot lacks continues as well.
  await addWallet('tron', late)
  const tron = await patientInvoice('usdt_tron')
  expect(known.has(tron.crypto?.address ?? '')).toBe(false)

  // Money to an address of the lost minutes is seen by a person.
  await world.pay(paid)
  await vi.waitFor(async () => {
    const open = await world.cli<{ items: { kind: string }[] }>('exception', 'list', '--workspace', world.workspaceId)
    expect(open.items.map(({ kind }) => kind)).toContain('unmatched')
  }, PATIENCE)
})
