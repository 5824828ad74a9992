import type { Config } from '#shared/config/schema.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Ambient } from '#shared/ports/runtime.ts'
import type { RedisConnections } from '#shared/queues/connection.ts'
import type { RedisEpochWatch } from '#shared/queues/redis-epoch.ts'

/** What every `services/<process>/main.ts` receives: parsed configuration and open connections. */
export interface ServiceContext extends Ambient {
  readonly config: Config
  readonly db: Database
  readonly redis: RedisConnections
  /** Absent where nobody watches Redis. */
  readonly redisEpoch?: Pick<RedisEpochWatch, 'onChange'>
}

/** Ends a service: stops taking work, finishes or gives back what it holds, closes what it opened itself. */
export type Stop = () => Promise<void>

/** The one export of a `main.ts`. Nothing connects or listens before it is called. */
export type StartService = (context: ServiceContext) => Promise<Stop>
