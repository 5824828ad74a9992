import { describe, expect, it } from 'vitest'
import { deadlinesPassUntil, knownUntil, type PositionedCursor } from './known-until.ts'
import { lagMarkMs } from './network-lag.ts'

const MINUTE = 60_000
const BLOCK_MS = 10 * MINUTE
const cursor = (change: Partial<PositionedCursor>): PositionedCursor => ({
  mode: 'live',
  hash: '0x10',
  height: 16,
  headHeight: 16,
  time: 1_000 * MINUTE,
  headSeenAt: 1_005 * MINUTE,
  ...change,
})
const known = (change: Partial<PositionedCursor>) => knownUntil(cursor(change), BLOCK_MS)

describe('what is known of a chain', () => {
  it('ends with the last block, and never behind the last look at the node', () => {
    expect(known({})).toBe(1_000 * MINUTE)
    expect(known({ time: 1_100 * MINUTE })).toBe(1_005 * MINUTE)
  })

  // Guarantee: a block that calls itself later than it is passes no deadline over blocks that are still unread.
  it('leaves the time that unread blocks took where the last one was read before its own time', () => {
    expect(known({ time: 1_100 * MINUTE, headHeight: 19 })).toBe(1_005 * MINUTE - 3 * BLOCK_MS)
    // An honest time needs no pace: a chain may be faster than its row says.
    expect(known({ time: 1_000 * MINUTE, advancedAt: 1_001 * MINUTE, headHeight: 900 })).toBe(1_000 * MINUTE)
    expect(known({ mode: 'test', time: 1_100 * MINUTE, headHeight: 19 })).toBe(1_005 * MINUTE)
  })

  // Guarantee: a node that stands still at a block from the future lets no deadline pass, however often it answers.
  it('ends when the last block was read, whatever time that block states', () => {
    const still = { time: 1_100 * MINUTE, advancedAt: 1_001 * MINUTE }
    expect(known(still)).toBe(1_001 * MINUTE)
    expect(known({ ...still, mode: 'test' })).toBe(1_001 * MINUTE)
  })

  it('ends with the last complete look at the mempool where that was later', () => {
    expect(known({ mempoolAt: 1_004 * MINUTE })).toBe(1_004 * MINUTE)
  })

  // Guarantee: a node without peers answers for ever, and no deadline passes because of it.
  it('a live node that shows no new block proves nothing with its mempool', () => {
    const mark = lagMarkMs(BLOCK_MS)
    expect(known({ mempoolAt: 9_000 * MINUTE })).toBe(1_000 * MINUTE + mark)
    // Reading an old block is our activity, not the chain's: a node that still syncs commits one block after the other.
    expect(known({ advancedAt: 1_355 * MINUTE, mempoolAt: 1_355 * MINUTE })).toBe(1_000 * MINUTE + mark)
    // A block from the future is no newer than its reading.
    expect(known({ time: 1_110 * MINUTE, advancedAt: 1_000 * MINUTE, mempoolAt: 9_000 * MINUTE })).toBe(
      1_000 * MINUTE + mark,
    )
    expect(known({ mode: 'test', mempoolAt: 9_000 * MINUTE })).toBe(9_000 * MINUTE)
  })

  it('goes on with each look at the head of a quiet test chain, and not of a live one', () => {
    expect(known({ mode: 'test', atHeadAt: 1_005 * MINUTE })).toBe(1_005 * MINUTE)
    expect(known({ atHeadAt: 1_005 * MINUTE })).toBe(1_000 * MINUTE)
  })
})

describe('a release of deadlines', () => {
  const released = { through: 1_003 * MINUTE, hash: '0x10', by: 'user:o', at: 1_004 * MINUTE, opId: 'op' }

  it('counts for the block that it was given for, and is no knowledge', () => {
    expect(deadlinesPassUntil(cursor({ released }), BLOCK_MS)).toBe(released.through)
    expect(known({ released })).toBe(1_000 * MINUTE)
  })

  it('has ended when the cursor moved, and takes nothing back that was read', () => {
    expect(deadlinesPassUntil(cursor({ released, hash: '0x11' }), BLOCK_MS)).toBe(1_000 * MINUTE)
    expect(deadlinesPassUntil(cursor({ released: { ...released, through: 5 } }), BLOCK_MS)).toBe(1_000 * MINUTE)
  })

  // Guarantee: where blocks are read and only their proof is missing, the next block does not end it before anybody can act on it.
  it('of unproven deadlines counts while they wait for the same proof, as far as blocks were read', () => {
    const unproven = 990 * MINUTE
    const given = { released: { ...released, unproven }, hash: '0x11', unproven }
    const until = (change: Partial<PositionedCursor>) => deadlinesPassUntil(cursor({ ...given, ...change }), BLOCK_MS)
    expect(until({})).toBe(1_000 * MINUTE)
    expect(until({ time: 1_004 * MINUTE })).toBe(released.through)
    expect(until({ hash: '0x10' })).toBe(released.through)
    expect(until({ unproven: 989 * MINUTE })).toBe(989 * MINUTE - 1)
    expect(until({ unproven: null, time: 980 * MINUTE })).toBe(980 * MINUTE)
    const skipped = { from: 1, to: 2, since: 980 * MINUTE, until: 985 * MINUTE, at: 0, by: 'user:o' }
    expect(until({ skipped })).toBe(skipped.since)
    expect(until({ released })).toBe(unproven - 1)
    expect(knownUntil(cursor(given), BLOCK_MS)).toBe(unproven - 1)
  })
})
