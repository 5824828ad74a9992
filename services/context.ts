import type { Config } from '#shared/config/schema.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Repositories } from '#shared/db/create-repositories.ts'
import type { ChainPaces } from '#shared/ports/chain-catalog.ts'
import type { MarkPlace, Marks } from '#shared/ports/marks.ts'
import type { QueueNotifier, Runtime } from '#shared/ports/runtime.ts'
import type { After } from '#shared/ports/timers.ts'
import type { StartWorker } from '#shared/queues/queue-worker-options.ts'
import type { RedisEpochWatch } from '#shared/queues/redis-epoch.ts'
import type { Signals } from '#shared/queues/signals.ts'

/** Passed to every `services/<process>/main.ts`: parsed configuration and open connections. */
export interface ServiceContext extends Runtime {
  readonly config: Config
  readonly db: Database
  /** Wake-ups, limits and epochs: between processes over Redis, or within this one. */
  readonly signals: Signals
  /** Places outside MongoDB that hold what was issued; empty = none is configured. */
  readonly markPlaces: readonly MarkPlace[]
  /** What scanners measured of their chains, kept up to date. */
  readonly paces: ChainPaces
  /** Absent without Redis and without a watch of it. */
  readonly redisEpoch?: Pick<RedisEpochWatch, 'onChange'>
}

/**
 * The common parts of every process. A `services/<process>/assemble.ts` adds the process's own parts and wires
 * use cases to them; it opens no connection and reads no configuration. `main.ts` passes the real parts (`openParts`), the
 * simulation passes simulated ones, so that both run the same wiring.
 */
export interface ServiceParts extends Runtime, Repositories {
  readonly notifier: QueueNotifier
  readonly marks: Marks
  readonly after: After
  readonly startWorker: StartWorker
}

/** Stops a service: takes no new work, finishes or releases its current work, closes the connections it opened itself. */
export type Stop = () => Promise<void>

/** The one export of a `main.ts`. Nothing connects or listens before it is called. */
export type StartService = (context: ServiceContext) => Promise<Stop>
