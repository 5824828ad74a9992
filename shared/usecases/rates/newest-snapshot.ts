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
