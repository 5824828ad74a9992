import type { Database } from '#shared/db/connection/connect.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import type { Logger } from '#shared/ports/runtime.ts'
import type { UsageCounter } from '#shared/usecases/networks/usage-counter.ts'

/** What a crash loses at most. */
const EVERY_MS = 5_000

/** Stores the counted calls of this process every five seconds. Returns a function that ends it and stores the rest. */
export function startUsageWriter(db: Database, usage: UsageCounter, logger: Logger): () => Promise<void> {
  const repository = createNodeUsageRepository(db)
  let running = Promise.resolve()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    timer = setTimeout(() => {
      running = usage.flush(repository, logger).then(() => {
        if (!stopped) wait()
      })
    }, EVERY_MS)
    timer.unref()
  }
  wait()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
    await usage.flush(repository, logger)
  }
}
