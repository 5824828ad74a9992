import { describe, expect, it } from 'vitest'
import { freshState, nextStep, type PaceScene, spendAttention, usualPace } from './thrifty-pace.ts'

const NOW = 1_800_000_000_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const pace = usualPace(2_000, async () => false)

const watch = (expiresAt = NOW + 10 * MINUTE_MS, matchKey = 'a') => ({ matchKey, expiresAt })

/** A network whose open watch was read up to the cursor a moment ago. */
function scene(change: Partial<PaceScene> = {}, sinceMs = 0, open = [watch()]) {
  const state = freshState(NOW, pace)
  const known = new Map(open.map(({ matchKey }) => [matchKey, [0n]]))
  Object.assign(state, {
    baseline: { hash: 'h', holdings: known, state: known },
    requestedAt: NOW - sinceMs,
    movedAt: NOW - sinceMs,
  })
  const rest: PaceScene = {
    now: NOW,
    hash: 'h',
    scannedThrough: NOW - MINUTE_MS,
    hasTrouble: false,
    open,
    blocksToConfirm: null,
    isWatched: false,
    isNearlySpent: false,
    ...change,
  }
  return nextStep(pace, state, rest)
}

describe('the next step', () => {
  it.each([
    ['nothing is open, shortly after a question', {}, 9 * MINUTE_MS, [], 'wait'],
    ['nothing is open for ten minutes', {}, 10 * MINUTE_MS, [], 'rest'],
    ['an invoice is open', {}, 25_999, [watch()], 'wait'],
    ['an invoice is open for a while', {}, 26_000, [watch()], 'glance'],
    ['its page is watched', { isWatched: true }, 3_000, [watch()], 'glance'],
    [
      'its page is watched and the quota is nearly spent',
      { isWatched: true, isNearlySpent: true },
      59_999,
      [watch()],
      'wait',
    ],
    ['the quota is nearly spent', { isNearlySpent: true }, 60_000, [watch()], 'glance'],
    ['the cursor is at another block than the balances', { hash: 'other' }, 3_000, [watch()], 'move'],
    ['a payment may be confirmed in one block', { blocksToConfirm: 1 }, 3_000, [], 'move'],
    ['a payment may be confirmed in 60 blocks', { blocksToConfirm: 60 }, 59_999, [], 'wait'],
    ['a payment may be confirmed in 60 blocks, later', { blocksToConfirm: 60 }, 60_000, [], 'move'],
    ['a payment may be confirmed in 100 blocks, before half of the wait', { blocksToConfirm: 100 }, 99_999, [], 'wait'],
    ['a payment may be confirmed in 100 blocks, after half of the wait', { blocksToConfirm: 100 }, 100_000, [], 'move'],
    ['a payment may be confirmed in 10,000 blocks', { blocksToConfirm: 10_000 }, 300_000, [], 'move'],
    ['a payment has enough blocks and waits for finality', { blocksToConfirm: 0 }, 9_999, [], 'wait'],
    ['a payment has enough blocks and waits for finality, later', { blocksToConfirm: 0 }, 10_000, [], 'move'],
    ['the last range could not be read', { hasTrouble: true }, 3_000, [watch()], 'move'],
  ] as const)('when %s', (_, change, sinceMs, open, expected) => {
    expect(scene(change, sinceMs, [...open])).toBe(expected)
  })

  // Guarantee: no quota keeps a deadline from being read up to.
  it('reads up to a deadline that has passed, whatever was spent', () => {
    const over = [watch(NOW - 2_000)]
    expect(scene({ isNearlySpent: true }, 4_000, over)).toBe('end')
    expect(scene({ isNearlySpent: true, scannedThrough: NOW - 2_000 }, 4_000, over)).toBe('wait')
  })

  it('reads the range of a watch that it does not know yet', () => {
    const state = freshState(NOW, pace)
    const rest = { now: NOW, hash: 'h', scannedThrough: NOW, hasTrouble: false, blocksToConfirm: null }
    const step = nextStep(pace, state, { ...rest, open: [watch()], isWatched: false, isNearlySpent: true })
    expect(step).toBe('move')
  })
})

describe('pages that are held open', () => {
  /** How long pages set the pace, in a time during which they are always open. */
  function watchedMs(forMs: number): number {
    const state = freshState(NOW, pace)
    let sum = 0
    for (let now = NOW; now < NOW + forMs; now += 1_000) if (spendAttention(pace, state, now, true)) sum += 1_000
    return sum
  }

  // Guarantee: strangers who hold pages open for a day get the pace for seven hours at most, and it ends for them within 45 minutes.
  it('set the pace for half an hour, then for fifteen minutes an hour', () => {
    expect(watchedMs(HOUR_MS / 2)).toBeGreaterThanOrEqual(HOUR_MS / 2 - 1_000)
    expect(watchedMs(24 * HOUR_MS)).toBeLessThanOrEqual(HOUR_MS / 2 + 24 * 15 * MINUTE_MS + 15 * MINUTE_MS)
  })

  it('earn nothing beyond half an hour while nobody watches', () => {
    const state = freshState(NOW, pace)
    spendAttention(pace, state, NOW + 48 * HOUR_MS, false)
    expect(state.watchedLeftMs).toBe(HOUR_MS / 2)
  })
})
