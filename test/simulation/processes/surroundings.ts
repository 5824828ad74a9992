import type { ServiceParts } from '#services/context.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { Logger, Metrics, QueueNotifier, Random, Runtime } from '#shared/ports/runtime.ts'
import type { KeyHasher } from '#shared/ports/secrets.ts'
import type { After } from '#shared/ports/timers.ts'
import type { RedisConnections } from '#shared/queues/connection.ts'
import type { QueueWorker, QueueWorkerOptions } from '#shared/queues/queue-worker-options.ts'
import { createSweeper } from '#shared/queues/sweeper.ts'
import { createCommonPauses } from '#shared/runtime/process/common-pauses.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import type { Prng } from '../kernel/prng.ts'
import { simAddressBook } from '../world/address-book.ts'
import { createPortCaller } from '../world/port-call.ts'
import { simKeyHasher, simSecretBox } from '../world/secret-box.ts'
import type { Sim } from '../world/sim.ts'
import type { RunningProcess } from '../world/supervisor-port.ts'
import { simCatalog } from './catalog.ts'
import { openProcessDatabase } from './database.ts'
import { nothingToSweep } from './nothing-due.ts'
import { simRepositories } from './repositories.ts'

/** What every simulated process is assembled from, and how it reaches the simulated world. */
export interface Surroundings extends ServiceParts {
  readonly sim: Sim
  readonly running: RunningProcess
  readonly luck: Prng
  readonly call: ReturnType<typeof createPortCaller>
  readonly catalog: Catalog
  readonly addressBook: AddressBook
  readonly secretBox: typeof simSecretBox
  readonly hasher: KeyHasher
  readonly urls: { readonly checkoutBaseUrl: string }
}

/** Makes the surroundings of a process and waits for its clock, as every process does before it starts. */
export async function surround(sim: Sim, running: RunningProcess): Promise<Surroundings> {
  const { process } = running
  const luck = sim.random.fork(`process/${process.name}`)
  const call = createPortCaller(sim, process, luck.fork('calls'))
  const db = openProcessDatabase(sim, process, call, luck.fork('store'))
  const logger = createSimLogger(sim)
  const metrics: Metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined }
  const notifier: QueueNotifier = {
    notify: (queue, id) => {
      if (process.alive) sim.redis.notify(process, queue, id)
    },
  }
  const after: After = (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  }
  const clock = await clockOf(db, logger)
  const random = createSimRandom(luck.fork('random'), clock.now)
  const runtime = { clock, random, logger, metrics, pauses: createCommonPauses() }
  return {
    ...{ sim, running, luck, call, notifier, after, marks: NO_MARKS },
    ...runtime,
    ...simRepositories(sim, db, runtime),
    startWorker: (options) => startWorker({ sim, running, runtime, notifier, options }),
    catalog: simCatalog(sim),
    addressBook: simAddressBook,
    secretBox: simSecretBox,
    hasher: simKeyHasher,
    urls: { checkoutBaseUrl: 'http://pay.test' },
  }
}

/** A process that cannot read the store's clock tries again, as its supervisor would by starting it again. */
async function clockOf(db: Database, logger: Logger) {
  for (;;) {
    try {
      return await createStoreClock(db, logger)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

/** UUIDs of version 7 by the store's clock, as the product makes them. */
export function createSimRandom(prng: Prng, now: () => number): Random {
  return {
    uuid: () => {
      const time = now().toString(16).padStart(12, '0')
      const bytes = prng.bytes(10)
      bytes[0] = 0x70 | ((bytes[0] ?? 0) & 0x0f)
      bytes[2] = 0x80 | ((bytes[2] ?? 0) & 0x3f)
      const rest = Buffer.from(bytes).toString('hex')
      return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`
    },
    bytes: (length) => prng.bytes(length),
  }
}

function createSimLogger(sim: Sim): Logger {
  const note = (level: string) => (fields: object, message: string) => {
    const cause = 'err' in fields && fields.err instanceof Error ? ` (${fields.err.name}: ${fields.err.message})` : ''
    sim.trace.add(`  ${level}: ${message}${cause}`)
  }
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: note('warn'),
    error: note('error'),
    child: () => logger,
  }
  return logger
}

interface WorkerParts {
  readonly sim: Sim
  readonly running: RunningProcess
  readonly runtime: Runtime
  readonly notifier: QueueNotifier
  readonly options: QueueWorkerOptions
}

/** A queue worker like that of `shared/queues/worker.ts`, with the product's own sweeper, on the simulated Redis. */
function startWorker({ sim, running, runtime, notifier, options: requests }: WorkerParts): QueueWorker {
  const { process } = running
  const sweep = async () => (nothingToSweep(sim, requests.queue) ? [] : requests.sweep())
  const options = { ...requests, sweep }
  const turns = new Map<string, Promise<void>>()
  const run = async (id: string): Promise<void> => {
    try {
      await options.handle(id)
    } catch (error) {
      runtime.logger.error({ err: error }, `job of ${options.queue} failed`)
    }
  }
  const handleInTurn = async (id: string): Promise<void> => {
    const before = turns.get(id)
    const turn = before === undefined ? run(id) : before.then(() => run(id))
    turns.set(id, turn)
    await turn
    if (turns.get(id) === turn) turns.delete(id)
  }
  const redis = { isHealthy: sim.redis.isHealthy, unhealthyForMs: sim.redis.unhealthyForMs } as RedisConnections
  const watchdog = { isIdle: () => turns.size === 0, look: async () => undefined }
  const isRunning = (id: string) => turns.has(id)
  const sweeper = createSweeper({ redis, runtime, notifier, options, handle: handleInTurn, isRunning, watchdog })
  sim.redis.register({ process, queue: options.queue, concurrency: options.concurrency, handle: handleInTurn })
  return { stop: () => sweeper.stop() }
}
