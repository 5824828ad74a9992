import { randomBytes } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { HDNodeWallet } from 'ethers'
import { expect, vi } from 'vitest'
import { createPaymesh, type Invoice, PaymeshApiError } from '#clients/typescript/src/main.ts'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { type MongoStore, startMongoStore } from '#dev/embedded/mongo-store.ts'
import { type Environment, readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { type Rig, startRig } from '#test/chaos/rig.ts'
import { makeStoreFolder } from './store-folder.ts'
import { openWorld, runCli, type World } from './world.ts'

/** Whatever is waited for here takes processes that start, on a machine that does other things as well. */
export const PATIENCE = { timeout: 120_000, interval: 250 }
/** A key may send 60 requests at once and two a second (specification §8). */
const INVOICES_PER_KEY = 15
const WORKERS = 3

/** An asset of each wallet: one from before the loss, and one that is added in the lost minutes. */
export type LossyAsset = 'usdt_ethereum' | 'usdt_tron'

/** An installation on real processes whose database can be lost, in its own folder. */
export interface LossyInstallation {
  readonly folder: string
  readonly rig: Rig
  readonly world: World
  /** Adds the wallet of an extended key; `startIndex` as an operator enters it. Returns nothing: the first invoice shows that it sells. */
  addWallet(family: 'evm' | 'tron', xpub: string, startIndex: number): Promise<void>
  /** Creates until it succeeds: while the store catches up with the marks, and while processes start, no wallet sells. */
  patientInvoice(asset: LossyAsset): Promise<Invoice>
  /** Creates invoices as fast as three callers can, and as scanners watch addresses, until `lose` or `finish`. */
  startLoad(): Load
  /** SIGKILL to every process, which stays down until `startAll`. Needs `keepAlive: false`. */
  killAll(): Promise<void>
  startAll(): Promise<void>
  /** Ends mongod; a request on its way waits for the next one, on the same port. */
  stopStore(): Promise<void>
  startStore(): Promise<void>
  /** Copies the data files, and puts them back; mongod must be down. */
  copyFiles(): void
  putFilesBack(): void
  /** Work on the database as it is now. */
  withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Invoices that are created until something is lost. */
export interface Load {
  /** Resolves once so many invoices were acknowledged. Rejects when one was refused. */
  reached(count: number): Promise<void>
  /** Ends the load in order, and returns what was acknowledged. */
  finish(): Promise<readonly Invoice[]>
  /**
   * Runs `loss` while invoices are created. `lost` were acknowledged by its end; `late` are answers to requests that were on their way then,
   * and that what comes back has answered.
   */
  lose(loss: () => Promise<void>): Promise<{ readonly lost: readonly Invoice[]; late(): Promise<readonly Invoice[]> }>
}

/** A new extended key that no other test has. */
export const newXpub = (): string =>
  HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey

/** Starts it, with enough API keys for this many invoices. On failure nothing is left running. */
export async function openLossyInstallation(options: {
  readonly invoices: number
  readonly keepAlive: boolean
  readonly env: Environment
}): Promise<LossyInstallation> {
  const folder = makeStoreFolder('paymesh-lossy')
  const [data, copy] = [join(folder, 'mongo'), join(folder, 'copy')]
  const binary = await findMongod(() => undefined)
  let store: MongoStore | null = null
  let port = 0
  const startStore = async (): Promise<string> => {
    store = await startMongoStore({ binary, dir: data, preferredPort: port, roomy: false })
    port = store.port
    return store.url
  }
  const stopStore = async (): Promise<void> => {
    await store?.stop()
    store = null
  }
  const undo: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true }), stopStore]
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step()
  }
  try {
    const { keepAlive, env } = options
    const mongoUrl = await startStore()
    const rig = await startRig({ dir: join(folder, 'rig'), mongoUrl, keepAlive, env, report: () => {} })
    undo.push(rig.stop)
    const world = await openWorld(rig.dataDir, rig.stack.dev)
    undo.push(world.close)
    const create = await createRoundRobin(world, rig, Math.ceil(options.invoices / INVOICES_PER_KEY))
    return {
      ...{ folder, rig, world, stopStore, close },
      ...processesOf(rig),
      addWallet: async (family, xpub, startIndex) => {
        const about = ['--workspace', world.workspaceId, '--mode', 'test', '--family', family, '--kind', 'xpub']
        await world.cli('wallet', 'add', ...about, '--value', xpub, '--start-index', String(startIndex))
      },
      patientInvoice: (asset) => vi.waitFor(() => create(asset), PATIENCE),
      startLoad: () => startLoad(() => createWatched(() => create('usdt_ethereum'))),
      startStore: async () => void (await startStore()),
      copyFiles: () => cpSync(data, copy, { recursive: true }),
      putFilesBack: () => {
        rmSync(data, { recursive: true })
        cpSync(copy, data, { recursive: true })
      },
      withDatabase: (work) => withDatabase(rig.dataDir, work),
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Creates invoices with one key after the other. */
async function createRoundRobin(
  { workspaceId }: World,
  { dataDir, stack }: Rig,
  keys: number,
): Promise<(asset: LossyAsset) => Promise<Invoice>> {
  const clients: ReturnType<typeof createPaymesh>[] = []
  for (let made = 0; made < keys; made += 1) {
    const args = ['api-key', 'create', '--workspace', workspaceId, '--mode', 'test', '--scopes', 'all']
    const { apiKey } = await runCli<{ apiKey: string }>(dataDir, args)
    clients.push(createPaymesh({ apiKey, baseUrl: stack.dev.apiUrl, maxRetries: 0 }))
  }
  let turn = 0
  return async (asset) => {
    turn += 1
    const client = clients[turn % clients.length]
    if (client === undefined) throw new Error('there is no API key')
    return await client.invoices.create({ amount: '25.00', currency: 'USD', asset })
  }
}

/** Repeats while a fast load has used all addresses that scanners watch; every other refusal is thrown. */
async function createWatched(create: () => Promise<Invoice>): Promise<Invoice> {
  const attempt = async (): Promise<Invoice | null> => {
    try {
      return await create()
    } catch (error) {
      if (error instanceof PaymeshApiError && error.code === 'NO_WALLET_FOR_ASSET') return null
      throw error
    }
  }
  return await vi.waitUntil(attempt, PATIENCE)
}

function processesOf(rig: Rig): Pick<LossyInstallation, 'killAll' | 'startAll'> {
  const names = Object.keys(rig.stack.dev.pids ?? {})
  return {
    killAll: async () => {
      for (const name of names) rig.kill(name)
      await vi.waitFor(() => expect(rig.stack.dev.pids).toEqual({}), PATIENCE)
    },
    startAll: async () => {
      for (const name of names) await rig.stack.restart(name)
    },
  }
}

function startLoad(create: () => Promise<Invoice>): Load {
  const made: Invoice[] = []
  const refusals: unknown[] = []
  let state: 'running' | 'losing' | 'ended' = 'running'
  const worker = async (): Promise<void> => {
    while (state !== 'ended') {
      try {
        made.push(await create())
      } catch (error) {
        // Nobody answers while the installation is being lost.
        if (state === 'running') refusals.push(error)
        return
      }
    }
  }
  const workers = Promise.all(Array.from({ length: WORKERS }, worker))
  const throwRefusals = (): void => {
    if (refusals.length > 0) throw new AggregateError(refusals, 'an invoice was refused under load')
  }
  return {
    reached: async (count) => {
      await vi.waitUntil(() => made.length >= count || refusals.length > 0, { ...PATIENCE, interval: 20 })
      throwRefusals()
    },
    finish: async () => {
      state = 'ended'
      await workers
      throwRefusals()
      return made
    },
    lose: async (loss) => {
      throwRefusals()
      state = 'losing'
      await loss()
      state = 'ended'
      const lost = [...made]
      const late = async (): Promise<readonly Invoice[]> => {
        await workers
        return made.slice(lost.length)
      }
      return { lost, late }
    },
  }
}

async function withDatabase<T>(dataDir: string, work: (db: Database) => Promise<T>): Promise<T> {
  const { mongoUrl, mongoDatabase } = parseConfig(readEnvironment(dataDir) ?? {}).stores
  const logger = createLogger({ name: 'lossy', level: 'silent' })
  const db = await connectDatabase({ url: mongoUrl, name: mongoDatabase, logger })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
