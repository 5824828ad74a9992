import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import mongoose from 'mongoose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { type StoreProcess, startStoreProcess } from '#dev/embedded/store-process.ts'
import { fileTarget } from '#scripts/backup/archive-target.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import { type BackupSteps, readBackup, STEPS } from '#shared/db/backup/backup-source.ts'
import { ChangesLost } from '#shared/db/backup/change-collector.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { startTcpProxy, type TcpProxy } from '#test/chaos/tcp-proxy.ts'
import { deepTest } from '#test/support/depth.ts'
import { keyed } from '#test/support/keyed.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'

const SETUP_MS = 180_000
const NOISE_BYTES = 500_000
const LOST = 'its oplog is too small for the writes of that time'
const folder = makeStoreFolder('paymesh-oplog')
const archives = makeStoreFolder('paymesh-oplog-archives')
const logger = createLogger({ name: 'test', level: 'silent' })
const secret = { kind: 'key', key: new Uint8Array(32).fill(7) } as const
const undo: (() => Promise<unknown>)[] = []
let direct: Database
let behind: Database
let link: TcpProxy

const urlOf = (port: number) => `mongodb://127.0.0.1:${port}/?directConnection=true`

/** A member with an oplog of 4 MB that is flushed every second: what is older may go. */
async function startSmall(): Promise<StoreProcess> {
  const store = await startStoreProcess({
    program: 'mongod',
    binary: await findMongod(() => undefined),
    dir: folder,
    preferredPort: 0,
    args: (port, pidFile) => [
      ...['--dbpath', folder, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--quiet'],
      ...['--replSet', 'rs0', '--oplogSize', '4', '--syncdelay', '1', '--wiredTigerCacheSizeGB', '0.25'],
      ...['--pidfilepath', pidFile, '--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ],
    isUp: (port) =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true))
        socket.once('connect', () => socket.destroy())
        socket.once('error', () => resolve(false))
      }),
  })
  const client = new mongoose.mongo.MongoClient(urlOf(store.port))
  try {
    const members = [{ _id: 0, host: `127.0.0.1:${store.port}` }]
    await client.db('admin').command({ replSetInitiate: { _id: 'rs0', members } })
    while (!(await client.db('admin').command({ hello: 1 }))['isWritablePrimary']) await wait(50)
  } finally {
    await client.close()
  }
  return store
}

beforeAll(async () => {
  const store = await startSmall()
  undo.push(() => store.stop())
  link = await startTcpProxy(() => store.port)
  undo.push(() => link.close())
  direct = await connectDatabase({ url: urlOf(store.port), name: 'small', logger })
  undo.push(() => direct.close())
  behind = await connectDatabase({ url: urlOf(link.port), name: 'small', logger })
  undo.push(() => behind.close())
  await migrate(direct)
}, SETUP_MS)
afterAll(async () => {
  for (const step of undo.reverse()) await step()
  for (const made of [folder, archives]) rmSync(made, { recursive: true, force: true })
})

const oplog = () => direct.connection.getClient().db('local').collection('oplog.rs')
const oldest = async () =>
  (await oplog().find().sort({ $natural: 1 }).limit(1).next())?.['ts'] as mongoose.mongo.Timestamp

/** Writes until the oplog no longer reaches back to this moment. */
async function overrun(from: mongoose.mongo.Timestamp): Promise<void> {
  const payments = direct.connection.collection<ReturnType<typeof keyed> & { _id: string; noise: string }>('payments')
  while (!(await oldest()).greaterThan(from)) {
    const noise = randomBytes(NOISE_BYTES).toString('base64')
    await payments.updateOne({ _id: 'noise' }, { $set: { ...keyed('noise'), noise } }, { upsert: true })
  }
}

/** A back-up into a file with one step exchanged. */
async function take(file: string, steps: Partial<BackupSteps>): Promise<unknown> {
  return await takeBackup(direct, {
    ...{ target: fileTarget(join(archives, file)), id: file, secret, version: 'test', onProgress: () => undefined },
    read: (db, options) => readBackup(db, options, { ...STEPS, ...steps }),
  })
}

// Guarantee: an archive that lacks changes is never finished, and the operator reads what to do.
deepTest(
  'ends with a clear error and no file when the oplog was overrun before the stream was open',
  async () => {
    const startMoment: BackupSteps['startMoment'] = async (db) => {
      const start = await STEPS.startMoment(db)
      await overrun(start.time)
      return start
    }
    await expect(take('early.backup', { startMoment })).rejects.toThrow(LOST)
    expect(readdirSync(archives)).toEqual([])
  },
  SETUP_MS,
)

deepTest(
  'ends with a clear error and no file when the stream fell behind the oplog',
  async () => {
    let from: mongoose.mongo.Timestamp | undefined
    const endMoment: BackupSteps['endMoment'] = async (db) => {
      if (from === undefined) throw new Error('no stream was opened')
      // The stream receives nothing while others write.
      link.fail({ kind: 'blackhole' })
      await overrun((await STEPS.endMoment(db)).time)
      link.heal()
      return await STEPS.endMoment(db)
    }
    const collectChanges: BackupSteps['collectChanges'] = (_db, names, time) => {
      from = time
      return STEPS.collectChanges(behind, names, time)
    }
    await expect(take('late.backup', { collectChanges, endMoment })).rejects.toThrow(LOST)
    expect(existsSync(join(archives, 'late.backup'))).toBe(false)
    expect(readdirSync(archives)).toEqual([])
  },
  SETUP_MS,
)

it(
  'is complete with the same oplog when nothing is late',
  async () => {
    await expect(take('fine.backup', {})).resolves.toMatchObject({ bytes: expect.any(Number) })
  },
  SETUP_MS,
)

// Guarantee: changes that lack some are never copied; the process begins a new chain instead.
deepTest(
  'refuses changes since a moment that the oplog no longer holds',
  async () => {
    const { time } = await STEPS.startMoment(direct)
    await overrun(time)
    const taken = takeBackup(direct, {
      ...{ target: fileTarget(join(archives, 'late.changes')), id: 'late', secret, version: 'test' },
      onProgress: () => undefined,
      read: (db, options) => readBackup(db, { ...options, since: time }),
    })
    await expect(taken).rejects.toBeInstanceOf(ChangesLost)
    expect(existsSync(join(archives, 'late.changes'))).toBe(false)
  },
  SETUP_MS,
)
