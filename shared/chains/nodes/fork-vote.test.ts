import { describe, expect, it } from 'vitest'
import { type FakePoolNode, useFakeNodes } from '#test/support/fake-nodes.ts'
import { RpcFailure } from './rpc-failure.ts'

const { fake, poolOf, name, clock, counts } = useFakeNodes()
const OURS = { height: 100, hash: 'main-100' }

/** `o` has our block, `x` another one, `l` may have it soon, `s` is silent, `f` far behind, `w` on another chain. */
const KINDS: Readonly<Record<string, Partial<FakePoolNode>>> = {
  o: { head: 101 },
  x: { head: 101, fork: 'branch' },
  l: { head: 98 },
  s: { chain: 'silent' },
  f: { head: 90 },
  w: { chain: 'other' },
}
const nodesOf = (kinds: string) => [...kinds].map((kind, index) => fake(`${kind}${index}`, KINDS[kind]))

describe('a block of ours that the node in use no longer has', () => {
  // Guarantee: one node that lies takes no payment back where others see the block.
  it.each([
    ['x', 'gone'],
    ['xx', 'gone'],
    ['xo', 'disputed'],
    ['xl', 'disputed'],
    ['xf', 'disputed'],
    ['xw', 'gone'],
    ['xxo', 'gone'],
    ['xoo', 'kept'],
    ['xos', 'disputed'],
    ['xxs', 'gone'],
    ['xxoo', 'disputed'],
    ['xll', 'disputed'],
  ] as const)('nodes %s: %s', async (kinds, verdict) => {
    expect(await poolOf(...nodesOf(kinds)).voteOnFork(OURS)).toBe(verdict)
  })

  // Guarantee: no payment is taken back by one node alone while the other one restarts, pauses, lags or stands still; nor held up for ever by one that does not come back.
  it.each<[string, Partial<FakePoolNode>]>([
    ['is silent', { chain: 'silent' }],
    ['is far behind', { head: 90 }],
    [
      'asks for one pause after the other',
      { identify: () => Promise.reject(new RpcFailure('retry', 'not now', { retryAfterMs: 10_000 })) },
    ],
    ['shows no block', { head: 105, hashAt: async () => null }],
  ])('is waited for while a node %s, for ten minutes', async (_what, change) => {
    const pool = poolOf(...nodesOf('x'), fake('s', change))
    for (let minute = 0; minute < 10; minute += 1) {
      expect(await pool.voteOnFork(OURS)).toBe('disputed')
      clock.time += 60_000
    }
    expect(await pool.voteOnFork(OURS)).toBe('gone')
    expect(pool.silence().unheard).toEqual(['s'])
  })

  // Guarantee: the first fork after one of two nodes died for good stops its network no longer than with one node, and a node that comes back counts at once.
  it('is not waited for by a node that gave the regular checks no vote for ten minutes already', async () => {
    const [inUse = fake('x')] = nodesOf('x')
    const pool = poolOf(inUse, fake('s', { chain: 'silent' }))
    pool.noteHead(inUse, 101)
    const checkedFor = async (minutes: number) => {
      for (let half = 0; half < minutes * 2; half += 1) {
        await pool.survey()
        clock.time += 31_000
      }
    }
    await checkedFor(9)
    expect(pool.silence().unheard).toEqual([])
    expect(await pool.voteOnFork(OURS)).toBe('disputed')
    await checkedFor(2)
    expect(pool.silence().unheard).toEqual(['s'])
    expect(await pool.voteOnFork(OURS)).toBe('gone')
  })

  it('is waited for again by a node that came back, without a fork in between', async () => {
    const silent = fake('s', { chain: 'silent' })
    const [inUse = fake('x')] = nodesOf('x')
    const pool = poolOf(inUse, silent)
    pool.noteHead(inUse, 101)
    for (let minute = 0; minute <= 10; minute += 1) {
      await pool.survey()
      clock.time += 60_000
    }
    expect(pool.silence().unheard).toEqual(['s'])
    silent.chain = 'ours'
    silent.fork = 'branch'
    await pool.survey()
    expect(pool.silence().unheard).toEqual([])
    silent.chain = 'silent'
    expect(await pool.voteOnFork(OURS)).toBe('disputed')
  })

  // Guarantee: a node that shows no block at all, as when it answers in the words of a rate limit, takes nothing back, however high its head is.
  it('is not gone because nodes that are further show nothing there', async () => {
    const nothing = { head: 105, hashAt: async () => null }
    expect(await poolOf(fake('a', nothing), fake('b', nothing)).voteOnFork(OURS)).toBe('disputed')
    const [other] = nodesOf('x')
    if (other === undefined) throw new Error('no node')
    expect(await poolOf(other, fake('b', nothing)).voteOnFork(OURS)).toBe('disputed')
  })
})

describe('a node that is outvoted', () => {
  it('is left for a while, also when it claims a higher head, and then taken back', async () => {
    const [liar, ...others] = nodesOf('xoo')
    if (liar === undefined) throw new Error('no node')
    liar.head = 1_000
    const pool = poolOf(liar, ...others)
    expect(await pool.use(name)).toBe('x0')
    await pool.voteOnFork(OURS)
    expect(await pool.use(name)).toBe('o1')
    await pool.survey()
    expect(await pool.use(name)).not.toBe('x0')
    expect(counts.get('scanner_node_outvoted_total x0')).toBe(1)
    clock.time += 60_000
    liar.fork = 'main'
    expect(await pool.voteOnFork(OURS)).toBe('kept')
  })
})
