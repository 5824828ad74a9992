import { describe, expect, it } from 'vitest'
import { useFakeNodes } from '#test/support/fake-nodes.ts'
import { createProgress } from './progress.ts'

const { fake, poolOf, clock, gauges } = useFakeNodes()

/** Answers of `a`, which gains one every so many seconds, and of `b` as `lag` says, each ten seconds for a time. */
function play(
  blockSeconds: number,
  lag: (second: number) => number | null,
  seconds: number,
): readonly (number | null)[] {
  const progress = createProgress<string>(() => clock.time)
  const stands: (number | null)[] = []
  for (let second = 0; second <= seconds; second += 10) {
    clock.time = second * 1_000
    progress.note('a', Math.floor(second / blockSeconds))
    const behind = lag(second)
    if (behind !== null) progress.note('b', Math.floor((second - behind) / blockSeconds))
    expect(progress.standsAt('a')).toBeNull()
    stands.push(progress.standsAt('b'))
  }
  return stands
}

describe('a node among two', () => {
  // Guarantee: a node that follows, at whatever pace of its chain, is not called old.
  it.each([1, 3, 12, 150, 384, 600])('follows at a block each %i s, a minute behind', (blockSeconds) => {
    expect(new Set(play(blockSeconds, () => 60, 7_200))).toEqual(new Set([null]))
  })

  // Guarantee: one that stands still is, after two minutes or three blocks of its chain, until it goes on.
  it.each([
    [3, 3_600 + 180],
    [384, 3_600 + 5 * 384],
    [600, 3_600 + 5 * 600],
  ])('stands still from a moment on, at a block each %i s', (blockSeconds, until) => {
    const stands = play(blockSeconds, (second) => (second > 3_600 ? second - 3_600 : 0), until)
    expect(stands.slice(0, 370)).toEqual(Array(370).fill(null))
    expect(stands.at(-1)).toBe(Math.floor(3_600 / blockSeconds))
    const back = play(blockSeconds, (second) => (second > 3_600 && second < until ? second - 3_600 : 0), until)
    expect(back.at(-1)).toBeNull()
  })

  it('is not old because it does not answer, nor because the whole chain stands still', () => {
    expect(new Set(play(3, (second) => (second > 600 ? null : 0), 3_600))).toEqual(new Set([null]))
    expect(new Set(play(1e9, () => 0, 3_600))).toEqual(new Set([null]))
  })
})

// Guarantee: one node of three that claims too much takes no vote from the others, however slow the chain is.
it('nobody of three is old because one claims too much', () => {
  const progress = createProgress<string>(() => clock.time)
  for (let second = 0; second < 7_200; second += 10) {
    clock.time = second * 1_000
    progress.note('liar', 1_000_000 + second)
    for (const honest of ['a', 'b']) {
      progress.note(honest, Math.floor(second / 600))
      expect(progress.standsAt(honest)).toBeNull()
    }
  }
})

describe('a pool whose second node stands still', () => {
  /** Two minutes and more of heads and final blocks, of which the second node's stand still. */
  async function standing(still: 'head' | 'final', others: number) {
    const nodes = ['a', 'b', 'c'].slice(0, 2 + others).map((host) => fake(host, { head: 100 }))
    const finals = new Map(nodes.map(({ host }) => [host, 90]))
    const pool = poolOf(...nodes)
    for (let step = 0; step < 30; step += 1) {
      clock.time += 10_000
      for (const node of nodes) {
        if (node.host === 'b' && still === 'head') continue
        node.head += 3
        if (node.host !== 'b') finals.set(node.host, node.head - 10)
      }
      await pool.use(async (node) => {
        await pool.final.update(node, async ({ host }) => finals.get(host) ?? null)
        pool.noteHead(node, node.head)
      })
      await pool.survey()
      pool.final.agreed()
      await pool.final.settled()
    }
    return { pool, nodes }
  }

  // Guarantee: an old answer is no answer: it is named, and does not count as one that can confirm.
  it.each([
    ['head', { block: 'newest', height: 100 }],
    ['final', { block: 'final', height: 90 }],
  ] as const)('in its %s names it', async (still, block) => {
    const { pool } = await standing(still, 0)
    expect(pool.silence()).toMatchObject({ hosts: [], failing: [], outdated: [{ host: 'b', ...block }], answering: 1 })
    pool.noteHead(await pool.use(async (node) => node), 1_000)
    expect([gauges.get('scanner_node_outdated a'), gauges.get('scanner_node_outdated b')]).toEqual([0, 1])
  })

  it('waits for nothing where two others go on', async () => {
    const { pool, nodes } = await standing('final', 1)
    expect(pool.final.agreed()).toBe((nodes[0]?.head ?? 0) - 10)
    expect(pool.silence()).toMatchObject({ answering: 2 })
  })

  // Guarantee: blocks that stand still vote neither for nor against another branch.
  it('in its head has no vote', async () => {
    const two = await standing('head', 0)
    for (const node of two.nodes) if (node.host === 'a') node.fork = 'branch'
    expect(await two.pool.voteOnFork({ height: 95, hash: 'main-95' })).toBe('disputed')
    const three = await standing('head', 1)
    for (const node of three.nodes) if (node.host !== 'b') node.fork = 'branch'
    expect(await three.pool.voteOnFork({ height: 95, hash: 'main-95' })).toBe('gone')
    for (const node of three.nodes) node.fork = node.host === 'b' ? 'branch' : 'main'
    expect(await three.pool.voteOnFork({ height: 95, hash: 'main-95' })).toBe('kept')
    expect(three.pool.silence().outdated).toHaveLength(1)
  })
})
