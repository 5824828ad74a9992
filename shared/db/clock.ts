import type { Clock, Logger } from '#shared/usecases/ports/runtime.ts'
import type { Database } from './connect.ts'

/** The store's clock: every process of an installation reads the same time, whatever its machine says. */
export interface StoreClock extends Clock {
  /** How far this machine's clock is from the store's, in milliseconds; more than 2,000 is a fault. */
  readonly driftMs: number
  /** Measures now instead of at the next round. */
  refresh(): Promise<void>
  stop(): void
}

const REFRESH_MS = 30_000

/**
 * Measures the offset to the primary's `hello.localTime` once before it resolves and every 30 s after that.
 * `now()` is synchronous. A failed measurement keeps the last offset.
 */
export async function createStoreClock(db: Database, logger?: Logger): Promise<StoreClock> {
  const native = db.connection.getClient().db(db.name)
  let offsetMs = 0
  const refresh = async (): Promise<void> => {
    const sentAt = Date.now()
    const answer = await native.command({ hello: 1 })
    const receivedAt = Date.now()
    const storeTime: unknown = answer['localTime']
    if (!(storeTime instanceof Date)) throw new Error('the store gave no localTime')
    offsetMs = Math.round(storeTime.getTime() - (sentAt + receivedAt) / 2)
  }
  await refresh()
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => logger?.warn({ err: error }, 'store clock could not be read'))
  }, REFRESH_MS)
  timer.unref()

  return {
    now: () => Date.now() + offsetMs,
    get driftMs() {
      return offsetMs
    },
    refresh,
    stop: () => clearInterval(timer),
  }
}
