import { compare, multiply, parseDecimal } from '../money/decimal.ts'
import type { PaymentObservation } from './invoice-event.ts'
import type { LedgerRow, Ms, PaymentMethod, Quote } from './model.ts'

const BPS = 10_000n
/** Block times lag behind our clock: a transfer may carry a time this long before the quote it pays. */
const CLOCK_LAG_MS = 120_000

/** The payment fields that choose a quote. */
type Sight = Pick<LedgerRow | PaymentObservation, 'firstSeenAt' | 'rateSeen' | 'simulated'>

/** The newest quote of a payment method. Throws RangeError on one without quotes, which no caller may build. */
export function latestQuote(lock: PaymentMethod): Quote {
  const quote = lock.quotes.at(-1)
  if (quote === undefined) throw new RangeError('a payment method has at least one quote')
  return quote
}

/** The newest quote that was open or over at `time`; the first one for earlier times, because clocks of chains differ from ours. */
export function quoteOpenedBy(lock: PaymentMethod, time: Ms): Quote {
  return lock.quotes.findLast((quote) => quote.lockedAt <= time) ?? lock.quotes[0] ?? latestQuote(lock)
}

/** When a quote of a payment method ends: earlier than promised only where the payer got a newer price of the coin on another network. */
export function endOfQuote({ repricedAt }: PaymentMethod, { lockedAt, expiresAt }: Quote): Ms {
  return repricedAt !== undefined && lockedAt < repricedAt && repricedAt < expiresAt ? repricedAt : expiresAt
}

/** The quote whose window holds `time`, the newest of several, or null. The first one also holds times shortly before it. */
export function quoteHolding(lock: PaymentMethod, time: Ms): Quote | null {
  const first = lock.quotes[0]
  if (first !== undefined && time < first.lockedAt && time >= first.lockedAt - CLOCK_LAG_MS) return first
  return lock.quotes.findLast((quote) => quote.lockedAt <= time && time <= endOfQuote(lock, quote)) ?? null
}

/** The quote at whose rate money first seen at `time` is valued, if it counts: the one that held then, otherwise the last one before. */
export function quoteAt(lock: PaymentMethod, time: Ms): Quote {
  return quoteHolding(lock, time) ?? quoteOpenedBy(lock, time)
}

/**
 * The quote that a payment may claim on its own: the one valid when it was first seen, otherwise the last one before
 * it within grace and drift of that quote's end, otherwise null. Later prices never change the result.
 */
export function quoteFor(lock: PaymentMethod, sight: Sight): Quote | null {
  const held = quoteHolding(lock, sight.firstSeenAt)
  if (held !== null) return held
  const last = quoteOpenedBy(lock, sight.firstSeenAt)
  if (sight.simulated) return last
  if (sight.firstSeenAt > endOfQuote(lock, last) + lock.policy.lateGraceMs) return null
  return withinDrift(last, sight.rateSeen, lock) ? last : null
}

/**
 * True when the rate when first seen had not fallen below the quoted one by more than the frozen bound.
 * A rate that moved in the merchant's favour always passes; an unknown rate never does.
 */
export function withinDrift(promised: Quote, rateSeen: string | null, lock: PaymentMethod): boolean {
  if (rateSeen === null) return false
  const floor = multiply(parseDecimal(promised.fiatPerAsset), {
    digits: BPS - BigInt(lock.policy.lateDriftBps),
    scale: 4,
  })
  return compare(parseDecimal(rateSeen), floor) >= 0
}
