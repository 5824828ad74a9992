import { setTimeout as delay } from 'node:timers/promises'
import mongoose from 'mongoose'
import { responds, type StoreSettings, startStoreProcess } from './store-process.ts'

/** After a change of port mongod first calls its old address, and waits 30 s if another program there does not respond. */
const PRIMARY_MS = 60_000
const NOT_YET_INITIALIZED = 94
const ALREADY_INITIALIZED = 23

/** A running MongoDB. */
export type MongoStore = Awaited<ReturnType<typeof startMongoStore>>

/**
 * Runs a one-node replica set on a persistent folder. The set names its member by port, so a start on another port rewrites
 * its configuration. Resolves when the node is a writable primary. `roomy`: with the default cache and oplog size, as on a server.
 */
export async function startMongoStore({ roomy, ...settings }: StoreSettings & { readonly roomy: boolean }) {
  const store = await startStoreProcess({
    ...settings,
    program: 'mongod',
    args: (port, pidFile) => mongodArgs(settings.dir, port, pidFile, roomy),
    isUp: (port) => responds(port),
  })
  const url = `mongodb://127.0.0.1:${store.port}/?directConnection=true`
  try {
    await becomePrimary(url, `127.0.0.1:${store.port}`)
  } catch (error) {
    await store.stop()
    throw error
  }
  return { ...store, url }
}

function mongodArgs(dir: string, port: number, pidFile: string, roomy: boolean): string[] {
  return [
    ...['--dbpath', dir, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
    ...['--replSet', 'rs0', '--pidfilepath', pidFile],
    ...(roomy ? [] : ['--wiredTigerCacheSizeGB', '0.5', '--oplogSize', '256']),
    '--quiet',
    // A lone primary has no other member to hand over to, so a stop need not wait for that.
    ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=0'],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ]
}

async function becomePrimary(url: string, host: string): Promise<void> {
  const client = new mongoose.mongo.MongoClient(url, { serverSelectionTimeoutMS: 10_000 })
  try {
    await client.connect()
    const admin = client.db('admin')
    let configured = false
    let lost: unknown
    for (const until = Date.now() + PRIMARY_MS; Date.now() < until; await delay(20)) {
      try {
        if (!configured) configured = await configure(admin, host)
        const hello = await admin.command({ hello: 1 })
        if (hello['isWritablePrimary'] === true) return
      } catch (error) {
        // A member that changes its role in the set disconnects its clients.
        if (!(error instanceof mongoose.mongo.MongoNetworkError)) throw error
        lost = error
      }
    }
    throw new Error(`mongod on ${host} did not become primary within ${PRIMARY_MS / 1_000} s`, { cause: lost })
  } finally {
    await client.close()
  }
}

/** Sets the set's only member to this host and port. Resolves false while mongod has not read its stored set yet. */
async function configure(admin: mongoose.mongo.Db, host: string): Promise<boolean> {
  const settings = { electionTimeoutMillis: 500, heartbeatIntervalMillis: 500 }
  try {
    const { config } = await admin.command({ replSetGetConfig: 1 })
    if (config.members[0].host === host) return true
    const members = [{ ...config.members[0], host }]
    await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true })
    return true
  } catch (error) {
    if (codeOf(error) !== NOT_YET_INITIALIZED) throw error
  }
  try {
    await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host }], settings } })
    return true
  } catch (error) {
    if (codeOf(error) !== ALREADY_INITIALIZED) throw error
    return false
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof mongoose.mongo.MongoServerError ? error.code : undefined
}
