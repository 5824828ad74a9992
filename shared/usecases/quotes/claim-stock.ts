import type { Ms, PriorHold } from '#shared/domain/invoice/model.ts'
import { SLOTS_MAX, slotAmount } from '#shared/domain/money/amount-slot.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Clock, Random } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim, amountClaim } from '#shared/usecases/wallets/address-standing.ts'

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
type FindFree<T extends FreeClaim> = (isOffered: (claim: string) => boolean) => Promise<readonly T[]>

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

/** Addresses of a pool read in one query. */
const PAGE = 200
/** A search in a pool ends after finding this many. */
const ENOUGH = 16
/** Ranges of additions, tried one after another, and how many of each are requested; small ones cost a payer least. */
const RANGES = [
  { upTo: 99, count: 99 },
  { upTo: 999, count: 150 },
  { upTo: Number(SLOTS_MAX), count: 300 },
  { upTo: Number(SLOTS_MAX), count: Number(SLOTS_MAX) },
] as const

/** Dependencies of finding free addresses and amounts. */
export type FreeClaimsDeps = Uses<'wallets' | 'invoices' | 'random' | 'clock'>

/** An address that no invoice holds. */
export interface FreeAddress {
  readonly claim: string
  readonly row: WatchedAddress
  /** Its last holder within the quarantine; null when that is over. */
  readonly priorHold: PriorHold | null
}

/** An amount above a price that no invoice on the address requests. */
export interface FreeAmount {
  readonly claim: string
  readonly amountBase: bigint
}

/**
 * Searches a pool from a random place on, once around, so that processes do not offer the same addresses. Recently released
 * addresses come last, the longest released first.
 */
export function freeAddresses(
  deps: FreeClaimsDeps,
  material: Pick<KeyMaterial, 'id' | 'mode' | 'family'>,
  isUsable: (row: WatchedAddress) => boolean,
): FindFree<FreeAddress> {
  return async (isOffered) => {
    const start = Buffer.from(deps.random.bytes(4)).toString('hex')
    const rested: FreeAddress[] = []
    const recent: FreeAddress[] = []
    for (const part of ['behind', 'before'] as const) {
      let after: string | null = part === 'behind' ? start : null
      for (;;) {
        const page: readonly WatchedAddress[] = await deps.wallets.heldPage(material.id, after, PAGE)
        const rows = part === 'before' ? page.filter(({ matchKey }) => matchKey <= start) : page
        const candidates = rows
          .filter(isUsable)
          .map((row) => ({ row, claim: addressClaim(material.mode, material.family, row.matchKey) }))
          .filter(({ claim }) => !isOffered(claim))
        const taken = await deps.invoices.claimsTaken(candidates.map(({ claim }) => claim))
        const free = candidates.filter(({ claim }) => !taken.has(claim))
        const prior = await deps.invoices.priorHolds(
          free.map(({ claim }) => claim),
          deps.clock.now(),
        )
        for (const { row, claim } of free) {
          const priorHold = prior.get(claim) ?? null
          const list = priorHold === null ? rested : recent
          list.push({ row, claim, priorHold })
        }
        if (rested.length >= ENOUGH) return rested
        if (rows.length < PAGE) break
        after = rows.at(-1)?.matchKey ?? null
      }
    }
    recent.sort((left, right) => (left.priorHold?.until ?? 0) - (right.priorHold?.until ?? 0))
    return [...rested, ...recent].slice(0, ENOUGH)
  }
}

/** Finds amounts above a price that no invoice on the address requested recently, from the smallest range with free amounts. */
export function freeAmounts(
  deps: FreeClaimsDeps,
  row: Pick<WatchedAddress, 'mode' | 'matchKey'>,
  info: AssetInfo,
  priceBase: bigint,
): FindFree<FreeAmount> {
  return async (isOffered) => {
    let recent: readonly FreeAmount[] = []
    for (const { upTo, count } of RANGES) {
      const candidates = shuffledSlots(deps.random, upTo)
        .map((slot) => slotAmount(priceBase, info.decimals, BigInt(slot)))
        .map((amountBase) => ({
          amountBase,
          claim: amountClaim(row.mode, info.network, row.matchKey, info.id, amountBase),
        }))
        .filter(({ claim }) => !isOffered(claim))
        .slice(0, count)
      const claims = candidates.map(({ claim }) => claim)
      const [taken, prior] = await Promise.all([
        deps.invoices.claimsTaken(claims),
        deps.invoices.priorHolds(claims, deps.clock.now()),
      ])
      const free = candidates.filter(({ claim }) => !taken.has(claim))
      const rested = free.filter(({ claim }) => !prior.has(claim))
      if (rested.length > 0) return rested
      recent = free
    }
    return recent
  }
}

/** 1 … `upTo` in random order (Fisher–Yates). The offered amount is not secret: only collisions must be rare. */
function shuffledSlots(random: Random, upTo: number): readonly number[] {
  const slots = Array.from({ length: upTo }, (_, index) => index + 1)
  const bytes = Buffer.from(random.bytes(upTo * 4))
  for (let last = upTo - 1; last > 0; last -= 1) {
    const other = bytes.readUInt32LE(last * 4) % (last + 1)
    const kept = slots[last] ?? 0
    slots[last] = slots[other] ?? 0
    slots[other] = kept
  }
  return slots
}
