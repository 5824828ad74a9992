import type { Ms } from '#shared/domain/invoice/model.ts'
import { isQuote, type Reading } from './quote.ts'

/** Sources that must agree before a clock is named. */
const WITNESSES_MIN = 2
/** Witnesses agree when they are this close together. */
const TOGETHER_MS = 3_000
/** Differences further away than this are another unit, not a clock. */
const LONGEST_MS = 86_400_000

/**
 * How far the clocks of the live order books are ahead of ours, in milliseconds; negative when ours is ahead. Null unless at least two sources that print
 * their time, and more than half of those that do, agree within three seconds. Everyday values are within a second or two of zero.
 */
export function clockOffset(readings: readonly Reading[]): Ms | null {
  const newest = new Map<string, Ms>()
  for (const reading of readings) {
    if (!isQuote(reading) || reading.feed !== 'book' || reading.sourceAt === null) continue
    const ahead = reading.sourceAt - reading.receivedAt
    const known = newest.get(reading.source)
    if (isWithin(ahead, 0, LONGEST_MS) && (known === undefined || ahead > known)) newest.set(reading.source, ahead)
  }
  const sorted = [...newest.values()].sort((left, right) => left - right)
  const middle = sorted[sorted.length >> 1]
  if (middle === undefined) return null
  const witnesses = sorted.filter((ahead) => isWithin(ahead, middle, TOGETHER_MS))
  return witnesses.length >= WITNESSES_MIN && witnesses.length * 2 > sorted.length ? middle : null
}

function isWithin(one: Ms, other: Ms, distance: Ms): boolean {
  return one - other <= distance && other - one <= distance
}
