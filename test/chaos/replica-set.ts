import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import mongoose from 'mongoose'
import { type StoreProcess, startStoreProcess } from '#dev/embedded/store-process.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const MEMBERS = 3
const PRIMARY_MS = 60_000

/** Three mongod that are reached only through proxies, by clients and by each other, so that a member can be cut off. */
export interface ReplicaSet {
  readonly url: string
  /** One for each member. */
  readonly links: readonly TcpProxy[]
  /** Makes the primary step down for ten seconds; resolves when another one is primary. */
  stepDown(): Promise<void>
  /** Ends a member that is not primary, for good, and returns `host:port` of it as the set names it. */
  loseSecondary(): Promise<string>
  /** Kills the primary with SIGKILL and starts it again once another one is primary. */
  killPrimary(): Promise<void>
  /** SIGSTOP of the primary, and SIGCONT after `ms`. */
  freezePrimary(ms: number): Promise<void>
  stop(): Promise<void>
}

/** Starts the set on an empty folder. Resolves when it has a writable primary. */
export async function startReplicaSet(options: { readonly binary: string; readonly dir: string }): Promise<ReplicaSet> {
  const { binary, dir } = options
  const members: StoreProcess[] = []
  const links: TcpProxy[] = []
  const launch = (index: number, port: number) =>
    startStoreProcess({
      program: 'mongod',
      binary,
      dir: join(dir, `member-${index}`),
      preferredPort: port,
      args: (own, pidFile) => mongodArgs(join(dir, `member-${index}`), own, pidFile),
      isUp: accepts,
    })
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((member) => member.stop()))
    await Promise.all(links.map((link) => link.close()))
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    for (let index = 0; index < MEMBERS; index += 1) {
      members.push(await launch(index, 0))
      links.push(await startTcpProxy(() => members[index]?.port ?? 0))
    }
    await initiate(members[0]?.port ?? 0, links)
    await primaryIndex(members)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `mongodb://${links.map((link) => `127.0.0.1:${link.port}`).join(',')}/?replicaSet=rs0`,
    links,
    stepDown: async () => {
      const before = await primaryIndex(members)
      await command(members[before]?.port ?? 0, { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5, force: false })
      await primaryIndex(members)
    },
    loseSecondary: async () => {
      const index = ((await primaryIndex(members)) + 1) % MEMBERS
      await members[index]?.stop()
      return `127.0.0.1:${links[index]?.port}`
    },
    killPrimary: async () => {
      const index = await primaryIndex(members)
      const member = members[index]
      if (member === undefined) throw new Error('the set has no primary')
      process.kill(member.pid, 'SIGKILL')
      await primaryIndex(members.filter((other) => other !== member))
      members[index] = await launch(index, member.port)
    },
    freezePrimary: async (ms) => {
      const member = members[await primaryIndex(members)]
      if (member === undefined) throw new Error('the set has no primary')
      process.kill(member.pid, 'SIGSTOP')
      await delay(ms)
      process.kill(member.pid, 'SIGCONT')
    },
    stop,
  }
}

function mongodArgs(dir: string, port: number, pidFile: string): string[] {
  return [
    ...['--dbpath', dir, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
    ...[
      '--replSet',
      'rs0',
      '--wiredTigerCacheSizeGB',
      '0.25',
      '--oplogSize',
      '256',
      '--pidfilepath',
      pidFile,
      '--quiet',
    ],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ]
}

async function initiate(port: number, links: readonly TcpProxy[]): Promise<void> {
  const members = links.map((link, index) => ({ _id: index, host: `127.0.0.1:${link.port}` }))
  const settings = { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 }
  await command(port, { replSetInitiate: { _id: 'rs0', members, settings } })
}

/** Waits for a member that reports itself as a writable primary, and returns its index. */
async function primaryIndex(members: readonly StoreProcess[]): Promise<number> {
  for (const until = Date.now() + PRIMARY_MS; Date.now() < until; await delay(100)) {
    const answers = await Promise.all(members.map((member) => isPrimary(member.port)))
    const index = answers.indexOf(true)
    if (index >= 0) return index
  }
  throw new Error(`no member became primary within ${PRIMARY_MS / 1_000} s`)
}

async function isPrimary(port: number): Promise<boolean> {
  try {
    return (await command(port, { hello: 1 }))['isWritablePrimary'] === true
  } catch {
    return false
  }
}

async function command(port: number, what: mongoose.mongo.Document): Promise<mongoose.mongo.Document> {
  const client = new mongoose.mongo.MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
  })
  try {
    return await client.db('admin').command(what)
  } finally {
    await client.close()
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (up: boolean): void => {
      socket.destroy()
      resolve(up)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
  })
}
