import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import { startGuarded } from '#dev/embedded/guarded-child.ts'
import { useStores } from '#test/support/stores.ts'
import { connectDatabase } from './connect.ts'
import { StoreAway } from './store-away.ts'

const stores = useStores()
const endings: (() => unknown)[] = []
let single: number
let fresh: number
let secondary: number

/** A mongod of this file; with `set` it expects to be told its replica set. */
async function startMongod(set: boolean): Promise<number> {
  const [dir, port] = [mkdtempSync(join(tmpdir(), 'paymesh-away-')), await freePort(0)]
  const own = ['--dbpath', dir, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--quiet']
  const args = [...own, '--wiredTigerCacheSizeGB', '0.25', ...(set ? ['--replSet', 'rs0'] : [])]
  const child = await startGuarded(await findMongod(() => undefined), args, { cwd: dir, stdio: 'ignore' })
  endings.push(async () => {
    await child.stop(0)
    rmSync(dir, { recursive: true, force: true })
  })
  await admin(port, { ping: 1 })
  return port
}

async function admin(port: number, command: mongoose.mongo.Document): Promise<mongoose.mongo.Document> {
  const client = new mongoose.mongo.MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`)
  try {
    return await client.db('admin').command(command)
  } finally {
    await client.close()
  }
}

beforeAll(async () => {
  ;[single, fresh, secondary] = await Promise.all([startMongod(false), startMongod(true), startMongod(true)])
  const members = [{ _id: 0, host: `127.0.0.1:${secondary}` }]
  await admin(secondary, { replSetInitiate: { _id: 'rs0', members } })
  const isPrimary = async () => (await admin(secondary, { hello: 1 }))['isWritablePrimary'] === true
  await vi.waitFor(async () => expect(await isPrimary()).toBe(true), { timeout: 60_000 })
  await admin(secondary, { replSetStepDown: 600, force: true })
}, 120_000)
afterAll(async () => {
  for (const end of endings) await end()
})

const failureOf = async (url: string): Promise<unknown> => {
  const { logger } = stores.runtime
  return await connectDatabase({ url, name: 'paymesh', logger }).then(
    async (db) => await db.close(),
    (error: unknown) => error,
  )
}
const away = (text: string) => [StoreAway, `no primary of MongoDB was found: ${text}`] as const

// Guarantee: a wrong MONGO_URL never becomes a working process, and the operator reads which part of it is wrong.
it('says of each wrong address what is wrong with it', { timeout: 120_000 }, async () => {
  const { host } = new URL(stores.mongoUrl)
  const closed = await freePort(0)
  const cases: readonly (readonly [string, readonly [new (...args: never[]) => Error, string]])[] = [
    [
      `mongodb://127.0.0.1:${closed}/?replicaSet=rs0`,
      away(`127.0.0.1:${closed} (connect ECONNREFUSED 127.0.0.1:${closed})`),
    ],
    [
      `mongodb://${host}/?replicaSet=another`,
      away('no host of MONGO_URL is a member of the replica set another, which it names'),
    ],
    [
      `mongodb://127.0.0.1:${fresh}/?replicaSet=rs0`,
      away(`127.0.0.1:${fresh} belongs to no replica set yet: run rs.initiate() there`),
    ],
    [`mongodb://127.0.0.1:${secondary}/?replicaSet=rs0`, away(`127.0.0.1:${secondary} is a secondary`)],
    [
      `mongodb://127.0.0.1:${secondary}/?directConnection=true`,
      away(`MONGO_URL names 127.0.0.1:${secondary} alone, which is not the primary`),
    ],
    [
      `mongodb://127.0.0.1:${single}/`,
      [
        Error,
        'MongoDB is a single server: it must be a replica set, of one member at least (--replSet and rs.initiate())',
      ],
    ],
    [`mongodb://nobody:secret@${host}/`, [Error, 'MongoDB refuses the user or password of MONGO_URL']],
  ]
  const found = await Promise.all(cases.map(([url]) => failureOf(url)))
  for (const [at, [, [type, text]]] of cases.entries()) {
    expect(found[at]).toBeInstanceOf(type)
    expect((found[at] as Error).message).toBe(text)
  }
})
