import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Clock } from '#shared/ports/runtime.ts'

/** A free candidate is looked up again after this time: other processes claim candidates as well. */
const STOCK_LIFE_MS = 30_000
/** An offered candidate is not offered again for this long, so that concurrent requests do not collide. */
const OFFERED_MS = 60_000
/** No new search for this long after one that found nothing. */
const EMPTY_MS = 2_000
/** Stocks that are cached before idle ones are dropped. */
const STOCKS_MAX = 500
/** Search rounds for one caller; others may take the candidates it waited for. */
const ROUNDS_MAX = 100

/** A candidate that was unclaimed when it was looked up. */
export interface FreeClaim {
  readonly claim: string
}

/** Finds free candidates for which `isOffered` is false; empty when there are none. */
export type FindFree<T extends FreeClaim> = (isOffered: (claim: string) => boolean) => Promise<readonly T[]>

/**
 * Free candidates in memory, so that most takes need no read. An offer is not a claim: the unique index decides, and
 * a loser takes the next. All of this may be lost in a crash.
 */
export interface ClaimStock<T extends FreeClaim> {
  /** The next candidate of a kind, or null when none is free. Never the same one twice within a minute. */
  take(key: string, find: FindFree<T>): Promise<T | null>
  /** Whether `take` would return one now. */
  has(key: string, find: FindFree<T>): Promise<boolean>
}

interface Stock<T> {
  held: T[]
  filledAt: Ms
  emptyUntil: Ms
  refill: Promise<void> | null
}

/** Makes an empty stock; one per process and kind of candidate. */
export function createClaimStock<T extends FreeClaim>(clock: Clock): ClaimStock<T> {
  const stocks = new Map<string, Stock<T>>()
  const offered = new Map<string, Ms>()

  const stockOf = (key: string): Stock<T> => {
    const known = stocks.get(key)
    if (known !== undefined) return known
    if (stocks.size >= STOCKS_MAX) forgetIdle()
    const stock: Stock<T> = { held: [], filledAt: 0, emptyUntil: 0, refill: null }
    stocks.set(key, stock)
    return stock
  }

  const forgetIdle = (): void => {
    const before = clock.now() - STOCK_LIFE_MS
    for (const [key, stock] of stocks) if (stock.refill === null && stock.filledAt < before) stocks.delete(key)
  }

  const isOffered = (claim: string): boolean => (offered.get(claim) ?? 0) > clock.now() - OFFERED_MS

  const refill = async (stock: Stock<T>, find: FindFree<T>): Promise<void> => {
    for (const [claim, at] of offered) {
      // In order of insertion, so the first recent one ends the search.
      if (at > clock.now() - OFFERED_MS) break
      offered.delete(claim)
    }
    const found = await find(isOffered)
    stock.filledAt = clock.now()
    stock.held = found.filter(({ claim }) => !isOffered(claim))
    if (stock.held.length === 0) stock.emptyUntil = clock.now() + EMPTY_MS
  }

  /**
   * What `read` makes of a stock that holds a candidate, after as many searches as needed; null when a search found nothing. `read` runs
   * in the same step as the check: many callers wait for one search, and those in front may take all it found.
   */
  const filled = async <R>(key: string, find: FindFree<T>, read: (held: T[]) => R): Promise<R | null> => {
    const stock = stockOf(key)
    if (stock.filledAt <= clock.now() - STOCK_LIFE_MS) stock.held = []
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      if (stock.held.length > 0) return read(stock.held)
      if (stock.emptyUntil > clock.now()) return null
      stock.refill ??= refill(stock, find).finally(() => {
        stock.refill = null
      })
      await stock.refill
    }
    return null
  }

  return {
    async take(key, find) {
      const next = await filled(key, find, (held) => {
        const taken = held.shift()
        if (taken !== undefined) {
          // Inserted again, so that the map stays in order of time.
          offered.delete(taken.claim)
          offered.set(taken.claim, clock.now())
        }
        return taken
      })
      return next ?? null
    },
    has: async (key, find) => (await filled(key, find, () => true)) ?? false,
  }
}
