import type { RateRepository } from '#shared/db/rates/rate-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RateSnapshot } from '#shared/ports/rates.ts'

/** Clocks of two processes differ by less: both follow the store's. */
const SKEW_MS = 2_000
/** What guards remember about a price of another day is of no use. */
const LIFE_MS = 86_400_000

/**
 * The last published snapshot. One of a later time than now was published before the store's clock was set back, or by the clock of another
 * primary: it is not the last one, and its price would never grow old.
 */
export async function newestSnapshot(
  rates: Pick<RateRepository, 'latest' | 'latestBefore'>,
  now: Ms,
): Promise<RateSnapshot | null> {
  const newest = await rates.latest()
  return newest === null || newest.at <= now + SKEW_MS ? newest : await rates.latestBefore(now, LIFE_MS)
}

/**
 * Why no price is current, as a sentence without a full stop: how old the newest rates are, and which sources fail since when. Null while they are at
 * most `maxAgeMs` old.
 */
export async function oldRates(
  rates: Pick<RateRepository, 'latest' | 'latestBefore' | 'failing'>,
  now: Ms,
  maxAgeMs: Ms,
): Promise<string | null> {
  const snapshot = await newestSnapshot(rates, now)
  if (snapshot === null) return 'no rate has been published; is the rates process running?'
  if (now - snapshot.at <= maxAgeMs) return null
  const text = `the newest rates are ${Math.round((now - snapshot.at) / 1000)} s old`
  const failing = await rates.failing()
  if (failing.length === 0) return `${text}; no source fails, so is the rates process running?`
  const list = failing.map(({ source, reason, since }) => `${source}: ${reason} since ${new Date(since).toISOString()}`)
  return `${text}; sources that fail: ${list.join(', ')}`
}
