import { expect, it } from 'vitest'
import { earlyRetries, type SeenRequest, type StoredAttempt } from './early-retries.ts'

const START = Date.parse('2026-11-22T12:00:00.000Z')
const attempt = (number: number, atMs: number, durationMs = 20, statusCode: number | null = 503): StoredAttempt => ({
  deliveryId: 'whd_1',
  number,
  at: new Date(START + atMs),
  durationMs,
  statusCode,
  isCounted: true,
})
/** Its lease was lost before its outcome was written. */
const lost = (number: number, atMs: number): StoredAttempt => ({ ...attempt(number, atMs), isCounted: false })
const request = (startedAtMs: number, answeredAtMs = startedAtMs + 10): SeenRequest => ({
  deliveryId: 'whd_1',
  at: START + startedAtMs,
  startedAtMs,
  answeredAtMs,
  status: 503,
})

it('accepts a retry that arrives when its pause is just over, whatever two senders call the time', () => {
  const seen = [request(1_000, 1_015), request(61_015)]
  expect(earlyRetries([attempt(1, 900), attempt(2, 1_000), attempt(3, 61_000)], seen)).toEqual([])
  expect(earlyRetries([attempt(1, 900), attempt(2, 1_030), attempt(3, 60_960)], seen)).toEqual([])
})

it('reports a retry that arrives a tenth of a millisecond too soon, although its stored dates are right', () => {
  const seen = [request(1_000, 1_015.2), request(61_015.1)]
  expect(earlyRetries([attempt(1, 900), attempt(2, 1_000), attempt(3, 61_021)], seen)).toEqual([
    'attempt 3 of whd_1 came 0.1 ms early',
  ])
})

it('goes by the stored dates, less the error of two clocks, where no receiver saw an attempt', () => {
  expect(earlyRetries([attempt(1, 900), attempt(2, 1_000), attempt(3, 60_920)], [request(61_000)])).toEqual([])
  expect(earlyRetries([attempt(1, 900), attempt(2, 1_000), attempt(3, 60_919)], [request(61_000)])).toEqual([
    'attempt 3 of whd_1 came 1.0 ms early',
  ])
})

it('does not take the one request of an attempt for that of the attempt right behind it', () => {
  expect(earlyRetries([attempt(1, 0), attempt(2, 25)], [request(5)])).toEqual([])
})

it('reports an attempt that is missing', () => {
  expect(earlyRetries([attempt(1, 0), attempt(3, 400_000)], [])).toEqual(['attempt 3 of whd_1 follows attempt 1'])
})

it('goes by the stored dates where a link broke before a slow receiver had answered', () => {
  const seen = [request(10, 710), request(410)]
  expect(earlyRetries([attempt(1, 0, 190, null), attempt(2, 400)], seen)).toEqual([])
  expect(earlyRetries([attempt(1, 0, 390, null), attempt(2, 285)], [request(10, 710)])).toEqual([
    'attempt 2 of whd_1 came 5.0 ms early',
  ])
  expect(earlyRetries([attempt(1, 0, 190), attempt(2, 400)], seen)).toEqual(['attempt 2 of whd_1 came 300.0 ms early'])
})

// A process that is suspended, or has no store, between a request and its outcome: the next claim of the row repeats the attempt.
it('accepts an attempt that is made again when the lease of the first was lost', () => {
  expect(earlyRetries([lost(1, 0), attempt(1, 13_900), attempt(2, 14_000)], [])).toEqual([])
  expect(earlyRetries([lost(1, 0), lost(1, 20_000), attempt(1, 40_000)], [])).toEqual([])
  expect(earlyRetries([attempt(1, 0), attempt(2, 30), lost(3, 60_050)], [])).toEqual([])
  expect(earlyRetries([lost(1, 0)], [])).toEqual([])
})

it.each([
  [
    'within the lease',
    [lost(1, 0), attempt(1, 13_899)],
    'attempt 1 of whd_1 was made again after 13899 ms, within its lease',
  ],
  ['when both count', [attempt(1, 0), attempt(1, 30_000)], 'attempt 1 of whd_1 follows attempt 1'],
  [
    'after its outcome was recorded',
    [attempt(1, 0), lost(1, 30_000)],
    'attempt 1 of whd_1 was made again after its outcome was recorded',
  ],
  [
    'before its pause was over',
    [attempt(1, 0), attempt(2, 30), lost(3, 50_000)],
    'attempt 3 of whd_1 came 9950.0 ms early',
  ],
  ['with a number to come', [attempt(1, 0), lost(3, 400_000)], 'attempt 3 of whd_1 follows attempt 1'],
] as const)('reports an attempt that is made again %s', (_, attempts, sentence) => {
  expect(earlyRetries(attempts, [])).toEqual([sentence])
})
