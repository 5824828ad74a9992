import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { afterAll, expect, it } from 'vitest'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import { startMongoStore } from '#dev/embedded/mongo-store.ts'
import { type StoreProcess, startStoreProcess } from '#dev/embedded/store-process.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createStoreRedundancy } from '#shared/db/maintenance/store-redundancy.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { redundancyHealth } from '#shared/usecases/maintenance/redundancy-health.ts'
import { startReplicaSet } from '#test/chaos/replica-set.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { openContext } from './open-context.ts'

const stores = useStores()
const folder = mkdtempSync(join(tmpdir(), 'paymesh-store-loss-'))
const DATABASE = 'loss'
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const silent = { write: () => undefined }
const configOf = (mongoUrl: string, port: number) =>
  parseConfig({
    MONGO_URL: mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'test',
    PAYMESH_MONGO_DATABASE: DATABASE,
    PAYMESH_REDIS_PREFIX: stores.prefix,
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 2).toString('base64'),
    PAYMESH_METRICS_PORT: String(port),
  })
async function migrated(url: string): Promise<Database> {
  const db = await connectDatabase({ url, name: DATABASE, logger: stores.runtime.logger })
  await migrate(db)
  return db
}
const readiness = async (port: number) => {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  return { status: response.status, body: (await response.json()) as { readonly degraded: unknown } }
}

// Guarantee: an election, which all replicas share, takes none of them out of a balancer: a request waits here, or gets our own error.
it('stays ready while the primary hangs, says that it is degraded, and recovers', { timeout: 120_000 }, async () => {
  const dir = join(folder, 'single')
  const binary = await findMongod(() => undefined)
  const mongo = await startMongoStore({ binary, dir, preferredPort: 0, roomy: false })
  const db = await migrated(mongo.url)
  await db.close()
  const port = await freePort(0)
  const { close, ready } = await openContext('api', configOf(mongo.url, port), silent)
  try {
    expect((await readiness(port)).status).toBe(503)
    ready()
    await expect.poll(() => readiness(port)).toEqual({ status: 200, body: { ready: true, reasons: {}, degraded: {} } })
    process.kill(mongo.pid, 'SIGSTOP')
    const seen: number[] = []
    const look = async () => {
      const { status, body } = await readiness(port)
      seen.push(status)
      return body.degraded
    }
    await expect.poll(look).toMatchObject({ mongo: expect.stringMatching(/primary does not respond|no result/) })
    process.kill(mongo.pid, 'SIGCONT')
    await expect.poll(look).toEqual({})
    expect(new Set(seen)).toEqual(new Set([200]))
  } finally {
    process.kill(mongo.pid, 'SIGCONT')
    await close()
    await mongo.stop()
  }
})

// Guarantee: the loss of redundancy shows before the next failure makes it an outage.
deepTest('counts a member that is gone, in the figures and for the doctor', { timeout: 180_000 }, async () => {
  const set = await startReplicaSet({ binary: await findMongod(() => undefined), dir: join(folder, 'set') })
  const db = await migrated(set.url)
  const port = await freePort(0)
  const { close } = await openContext('api', configOf(set.url, port), silent)
  const figure = async (series: string) => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    return Number(new RegExp(`^paymesh_${series} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  }
  const healthy = () => figure('store_members\\{state="healthy"\\}')
  try {
    await expect.poll(healthy).toBe(3)
    expect(await figure('store_oplog_seconds')).toBeGreaterThan(0)
    expect(await figure('store_disk_size_bytes')).toBeGreaterThan(await figure('store_disk_used_bytes'))
    expect(await figure('store_rights_missing')).toBe(0)
    const lost = await set.loseSecondary()
    await expect.poll(healthy, { timeout: 60_000 }).toBe(2)
    expect(await figure('store_members\\{state="configured"\\}')).toBe(3)
    const { faults } = redundancyHealth(await createStoreRedundancy(db).read())
    expect(faults.join()).toContain(`2 of 3 members healthy (${lost}`)
  } finally {
    await close()
    await db.close()
    await set.stop()
  }
})

// Guarantee: a user without the right costs a remark, and none of the figures that it may read.
it('says which right a database user lacks', { timeout: 60_000 }, async () => {
  const guarded = await startGuardedStore(join(folder, 'guarded'))
  const at = `127.0.0.1:${guarded.port}/?directConnection=true`
  const root = new mongoose.mongo.MongoClient(`mongodb://${at}`)
  const admin = root.db('admin')
  try {
    // MongoDB lets a client of the same machine make the set and create the first user.
    await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: `127.0.0.1:${guarded.port}` }] } })
    const isPrimary = async () => (await admin.command({ hello: 1 }))['isWritablePrimary']
    await expect.poll(isPrimary, { timeout: 30_000 }).toBe(true)
    await admin.command({ createUser: 'root', pwd: 'root', roles: ['root'] })
    const roles = [{ role: 'readWrite', db: 'shop' }]
    const login = new mongoose.mongo.MongoClient(`mongodb://root:root@${at}&authSource=admin`)
    await login.db('admin').command({ createUser: 'paymesh', pwd: 'p', roles })
    await login.db('shop').collection<{ _id: string }>('rows').insertOne({ _id: 'one' })
    await login.close()
    const url = `mongodb://paymesh:p@${at}&authSource=admin`
    const db = await connectDatabase({ url, name: 'shop', logger: stores.runtime.logger })
    const state = await createStoreRedundancy(db).read()
    await db.close()
    expect(state).toMatchObject({
      members: null,
      oplog: null,
      isDenied: true,
      disk: { totalBytes: expect.any(Number) },
    })
    expect(redundancyHealth({ ...state, disk: null })).toEqual({
      faults: [],
      facts: [expect.stringContaining('the role clusterMonitor on admin')],
    })
  } finally {
    await root.close()
    await guarded.stop()
  }
})

async function startGuardedStore(dir: string): Promise<StoreProcess> {
  const accepts = (port: number) =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    )
  const keyFile = join(folder, 'member.key')
  writeFileSync(keyFile, Buffer.alloc(48, 7).toString('base64'), { mode: 0o600 })
  return await startStoreProcess({
    ...{ program: 'mongod', binary: await findMongod(() => undefined), dir, preferredPort: 0, isUp: accepts },
    args: (port, pidFile) => [
      ...['--dbpath', dir, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--auth', '--quiet'],
      ...['--replSet', 'rs0', '--keyFile', keyFile],
      ...['--wiredTigerCacheSizeGB', '0.25', '--pidfilepath', pidFile],
    ],
  })
}
