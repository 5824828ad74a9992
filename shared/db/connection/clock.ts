import type { Clock, Logger } from '#shared/ports/runtime.ts'
import type { Database } from './connect.ts'

/** The store's clock: every process of an installation reads the same time, whatever its machine's clock shows. */
export interface StoreClock extends Clock {
  /** How far this machine's clock is ahead of the store's, in milliseconds; negative when it is behind. */
  readonly driftMs: number
  /** Measures now instead of at the next interval. */
  refresh(): Promise<void>
  stop(): void
}

/** A machine whose clock alone differs by more than this, in either direction, gets no new work. */
export const DRIFT_MAX_MS = 2_000

/** What is wrong with a machine of this drift, in a sentence with the remedy; null while the drift is tolerable. */
export function driftFault(driftMs: number): string | null {
  if (Math.abs(driftMs) <= DRIFT_MAX_MS) return null
  const seconds = (Math.abs(driftMs) / 1_000).toFixed(1)
  return `this machine's clock is ${seconds} s ${driftMs > 0 ? 'ahead of' : 'behind'} the store's; synchronise it (NTP)`
}

const REFRESH_MS = 30_000
/** A slower response is too imprecise about when the store read its clock: the error may be half of the round trip. */
const ROUND_TRIP_MAX_MS = 100
/** If all responses are slow, the fastest of this many is used. */
const TRIES = 4

/**
 * Measures how far the primary's `hello.localTime` is from this machine's monotonic clock, once before it resolves and
 * every 30 s after that. `now()` is synchronous, and no step of the machine's wall clock moves it. A failed measurement
 * keeps the last one.
 */
export async function createStoreClock(db: Database, logger?: Logger): Promise<StoreClock> {
  const native = db.connection.getClient().db(db.name)
  let aheadMs = 0
  const now = (): number => Math.round(performance.now() + aheadMs)
  const measure = async () => {
    const requestedAt = performance.now()
    const answer = await native.command({ hello: 1 })
    const roundTripMs = performance.now() - requestedAt
    const storeTime: unknown = answer['localTime']
    if (!(storeTime instanceof Date)) throw new Error('the store gave no localTime')
    return { roundTripMs, aheadMs: storeTime.getTime() - (requestedAt + roundTripMs / 2) }
  }
  const refresh = async (): Promise<void> => {
    let best = await measure()
    for (let tries = 1; best.roundTripMs > ROUND_TRIP_MAX_MS && tries < TRIES; tries += 1) {
      const next = await measure()
      if (next.roundTripMs < best.roundTripMs) best = next
    }
    aheadMs = best.aheadMs
  }
  await refresh()
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => logger?.warn({ err: error }, 'store clock could not be read'))
  }, REFRESH_MS)
  timer.unref()

  return {
    now,
    get driftMs() {
      return Date.now() - now()
    },
    refresh,
    stop: () => clearInterval(timer),
  }
}
