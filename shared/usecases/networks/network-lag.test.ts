import { describe, expect, it } from 'vitest'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { standIn } from '#test/support/stand-in.ts'
import { createNetworkLag } from './network-lag.ts'

const START = 1_800_000_000_000
const BLOCK_MS = 12_000
const LIMIT_MS = 10 * BLOCK_MS + 60_000

/** A check over one cursor that may be replaced, at a clock that may be set; each question reads again. */
function build(mode: Mode = 'live') {
  const world: { now: number; reads: number; cursor: ChainCursor | null } = { now: START, reads: 0, cursor: null }
  const lag = createNetworkLag({
    clock: { now: () => world.now },
    catalog: standIn({ blockTimeMs: () => BLOCK_MS }),
    cursors: standIn({
      find: async () => {
        world.reads += 1
        return world.cursor
      },
    }),
  })
  const request = () => lag.isLagging(mode, 'ethereum')
  return {
    world,
    request,
    /** What is answered for a cursor this far behind, past the cache. */
    at: (behindMs: number, change: Partial<ChainCursor> = {}) => {
      world.now += 2_000
      world.cursor = cursorAt(world.now - behindMs, { mode, headSeenAt: world.now, ...change })
      return request()
    },
  }
}

function cursorAt(time: number, change: Partial<ChainCursor>): ChainCursor {
  return {
    id: 'live:ethereum',
    mode: 'live',
    network: 'ethereum',
    height: 100,
    hash: 'h100',
    time,
    window: [],
    headHeight: 100,
    headSeenAt: time,
    finalizedHeight: null,
    status: 'live',
    haltReason: null,
    genesisHash: 'genesis',
    lease: null,
    ...change,
  }
}

describe('a network lags', () => {
  // The store's clock went back: what was found before is not kept until it shows that time again.
  it('looks again after the clock went back', async () => {
    const { world, at, request } = build()
    expect(await at(0)).toBe(false)
    world.now -= 3_600_000
    world.cursor = cursorAt(world.now - 2 * LIMIT_MS, { headSeenAt: world.now })
    expect(await request()).toBe(true)
  })

  it('beyond ten block times and a minute, not at it', async () => {
    const { at } = build()
    expect(await at(LIMIT_MS)).toBe(false)
    expect(await at(LIMIT_MS + 1)).toBe(true)
  })

  // Guarantee: a node that comes and goes does not make an asset flicker.
  it('until it stands at its head again, well inside the limit', async () => {
    const { at } = build()
    expect(await at(LIMIT_MS + 1)).toBe(true)
    expect(await at(LIMIT_MS - 1)).toBe(true)
    expect(await at(1_000, { headHeight: 101 })).toBe(true)
    expect(await at(LIMIT_MS / 2 + 1)).toBe(true)
    expect(await at(LIMIT_MS / 2)).toBe(false)
    expect(await at(LIMIT_MS / 2 + 1)).toBe(false)
    expect(await at(LIMIT_MS, { headHeight: 101 })).toBe(false)
  })

  it('when its node answers and brings no block in live mode; a quiet test chain is only quiet', async () => {
    expect(await build('live').at(LIMIT_MS + 1)).toBe(true)
    expect(await build('test').at(24 * 3_600_000)).toBe(false)
    expect(await build('test').at(LIMIT_MS + 1, { headHeight: 101 })).toBe(true)
    expect(await build('test').at(0, { headSeenAt: START - LIMIT_MS - 1 })).toBe(true)
  })

  it('a minute after its scanner stopped itself, until that scanner goes on', async () => {
    const { at } = build()
    expect(await at(0, { status: 'halted' })).toBe(false)
    expect(await at(0, { status: 'halted', headSeenAt: START - 60_001 })).toBe(true)
    expect(await at(0, { status: 'halted' })).toBe(true)
    expect(await at(0)).toBe(false)
  })

  // Guarantee: idle is not lagging. Silence, an old head and a failing block are.
  it('not while a thrifty scanner rests, but when its node was silent or behind, or a block fails for long', async () => {
    const { world, at } = build()
    const thrifty = (change: Partial<ChainCursor>) =>
      at(24 * 3_600_000, { source: 'thrifty', headHeight: 9_999, ...change })
    const answered = (agoMs: number) => ({ headSeenAt: world.now - agoMs, headTime: world.now - agoMs - 1_000 })
    expect(await thrifty(answered(600_000))).toBe(false)
    expect(await thrifty(answered(601_000 + LIMIT_MS))).toBe(true)
    expect(await thrifty(answered(1_000))).toBe(false)
    expect(await thrifty({ ...answered(0), headTime: world.now - LIMIT_MS - 3_000 })).toBe(true)
    const trouble = { kind: 'node', height: 101, hash: null, method: null, reason: 'no', host: null, tries: 9 } as const
    const failing = (sinceMs: number) => ({ ...trouble, firstAt: world.now - sinceMs, lastAt: world.now })
    expect(await thrifty(answered(0))).toBe(false)
    expect(await thrifty({ ...answered(0), trouble: failing(LIMIT_MS - 5_000) })).toBe(false)
    expect(await thrifty({ ...answered(0), trouble: failing(LIMIT_MS) })).toBe(true)
  })

  // Guarantee: a thrifty network that reads every block again does not rest.
  it('while a thrifty scanner reads blocks again that its cursor was sent back over', async () => {
    const { world, at } = build()
    const thrifty = { source: 'thrifty', headHeight: 9_999, headTime: world.now } as const
    expect(await at(24 * 3_600_000, { ...thrifty, height: 100, recheckThrough: 100 })).toBe(false)
    expect(await at(24 * 3_600_000, { ...thrifty, height: 99, recheckThrough: 100 })).toBe(true)
  })

  it('never before its first scan: there is no watched address then', async () => {
    expect(await build().request()).toBe(false)
  })
})

it('reads a cursor once for everyone who asks within two seconds', async () => {
  const { world, request, at } = build()
  await at(0)
  await Promise.all([request(), request()])
  expect(world.reads).toBe(1)
  world.now += 2_000
  await Promise.all([request(), request()])
  expect(world.reads).toBe(2)
})
