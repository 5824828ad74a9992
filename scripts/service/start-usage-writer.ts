import type { Database } from '#shared/db/connection/connect.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import type { Logger } from '#shared/ports/runtime.ts'
import type { UsageCounter } from '#shared/usecases/networks/usage-counter.ts'
import { repeat } from './repeat.ts'

/** What a crash loses at most. */
const EVERY_MS = 5_000

/** Stores the counted calls of this process every five seconds. Returns a function that ends it and stores the rest. */
export function startUsageWriter(db: Database, usage: UsageCounter, logger: Logger): () => Promise<void> {
  const repository = createNodeUsageRepository(db)
  const stop = repeat(() => usage.flush(repository, logger), EVERY_MS)
  return async () => {
    await stop()
    await usage.flush(repository, logger)
  }
}
