import { createStoreClock } from '#shared/db/connection/clock.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Ambient, Kicker, Logger, Metrics, Random } from '#shared/ports/runtime.ts'
import type { After } from '#shared/ports/timers.ts'
import type { RedisConnections } from '#shared/queues/connection.ts'
import type { QueueWorkerOptions } from '#shared/queues/queue-worker-options.ts'
import { createSweeper } from '#shared/queues/sweeper.ts'
import type { Prng } from '../kernel/prng.ts'
import { createPortCaller } from '../world/port-call.ts'
import type { Sim } from '../world/sim.ts'
import type { Running } from '../world/supervisor-port.ts'
import { openProcessDatabase } from './database.ts'

/** What every simulated process has around it. */
export interface Surroundings extends Ambient {
  readonly sim: Sim
  readonly running: Running
  readonly luck: Prng
  readonly call: ReturnType<typeof createPortCaller>
  readonly db: Database
  readonly kicker: Kicker
  readonly after: After
  /** A queue worker like that of `shared/queues/worker.ts`, with the product's own sweeper. */
  work(options: QueueWorkerOptions): void
}

/** Makes the surroundings of a process and waits for its clock, as every process does before it starts. */
export async function surround(sim: Sim, running: Running): Promise<Surroundings> {
  const { process } = running
  const luck = sim.random.fork(`process/${process.name}`)
  const call = createPortCaller(sim, process, luck.fork('calls'))
  const db = openProcessDatabase(sim, process, call, luck.fork('store'))
  const logger = createSimLogger(sim)
  const metrics: Metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined }
  const kicker: Kicker = {
    kick: (queue, id) => {
      if (process.alive) sim.redis.kick(process, queue, id)
    },
  }
  const after: After = (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  }
  const clock = await clockOf(db, logger)
  const random = createSimRandom(luck.fork('random'), clock.now)
  const ambient = { clock, random, logger, metrics }
  const work = (options: QueueWorkerOptions): void => startWorker({ sim, running, ambient, kicker, options })
  return { sim, running, luck, call, db, kicker, after, work, ...ambient }
}

/** A process that cannot read the store's clock tries again, as its supervisor would by starting it anew. */
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
  readonly running: Running
  readonly ambient: Ambient
  readonly kicker: Kicker
  readonly options: QueueWorkerOptions
}

function startWorker({ sim, running, ambient, kicker, options }: WorkerParts): void {
  const { process } = running
  const turns = new Map<string, Promise<void>>()
  const run = async (id: string): Promise<void> => {
    try {
      await options.handle(id)
    } catch (error) {
      ambient.logger.error({ err: error }, `job of ${options.queue} failed`)
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
  createSweeper({ redis, ambient, kicker, options, handle: handleInTurn, isRunning: (id) => turns.has(id), watchdog })
  sim.redis.register({ process, queue: options.queue, concurrency: options.concurrency, handle: handleInTurn })
}
