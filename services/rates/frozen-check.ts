import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatDecimal } from '#shared/domain/money/decimal.ts'
import { isQuote, type Quote, type Reading } from '#shared/domain/rates/quote.ts'
import type { Pulse } from './rate-source.ts'

/** Two responses may be equal by chance, or come out of one cache. */
const FROZEN_POLLS = 4

/**
 * Whether a source has repeated its pulse, or else every price, over at least four polls and for as long as that may stand still. One book that is quiet
 * while others move is not frozen.
 */
export function createFrozenCheck(
  frozenAfterMs: Ms,
): (readings: readonly Reading[], pulse: Pulse | null, now: Ms) => boolean {
  let last = ''
  let since: Ms = 0
  let polls = 0
  return (readings, pulse, now) => {
    const text = pulse?.text ?? readings.filter(isQuote).map(printed).join('\n')
    if (text !== last) {
      last = text
      since = now
      polls = 0
    }
    polls += 1
    return polls >= FROZEN_POLLS && now - since >= (pulse?.stillMs ?? frozenAfterMs)
  }
}

function printed({ base, quote, price }: Quote): string {
  return `${base}/${quote} ${formatDecimal(price)}`
}
