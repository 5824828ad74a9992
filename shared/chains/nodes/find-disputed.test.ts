import { describe, expect, it, vi } from 'vitest'
import type { SeenTransaction } from '#shared/ports/scanning.ts'
import { useFakeNodes } from '#test/support/fake-nodes.ts'
import { createBlockSources } from './block-sources.ts'
import { type FailureDetails, RpcFailure } from './rpc-failure.ts'

const { fake, poolOf, name, deny } = useFakeNodes()
const TX = { txHash: 'tx', height: 100, blockHash: 'main-100' }
const NONE = new Set()
const DISPUTED = new Set(['tx'])
const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })

describe('a transaction whose block a known node gave', () => {
  // Guarantee: after a failover, the node that made a payment is not asked whether the payment is real.
  it('is vouched for by another node than that one, whichever is in use by now', async () => {
    const [a, b] = [fake('a'), fake('b', { denied: ['tx'] })]
    const pool = poolOf(a, b)
    pool.noteBlocks(a, 90, 100)
    a.chain = 'silent'
    expect(await pool.use(name)).toBe('b')
    a.chain = 'ours'
    expect(await pool.disputed([TX], deny)).toEqual(DISPUTED)
    expect(a.requests).toBe(0)
    b.denied = []
    expect(await pool.disputed([TX], deny)).toEqual(NONE)
  })

  it.each<[string, string[], Set<unknown>]>([
    ['one that shows it is enough', [], NONE],
    ['one that denies it is outweighed by two that show it', ['b'], NONE],
    ['two that deny it make it doubtful', ['b', 'c'], DISPUTED],
  ])('of three: %s', async (_what, deniers, expected) => {
    const nodes = ['a', 'b', 'c'].map((host) => fake(host, { denied: deniers.includes(host) ? ['tx'] : [] }))
    const pool = poolOf(...nodes)
    const [a] = nodes
    if (a !== undefined) pool.noteBlocks(a, 100, 100)
    expect(await pool.disputed([TX], deny)).toEqual(expected)
  })

  it('is asked about one by one: others are not held up', async () => {
    const [a, b] = [fake('a'), fake('b', { denied: ['tx'] })]
    const pool = poolOf(a, b)
    pool.noteBlocks(a, 90, 100)
    expect(await pool.disputed([TX, { ...TX, txHash: 'other' }], deny)).toEqual(DISPUTED)
    expect(b.requests).toBe(1)
  })

  // Guarantee: what a node cannot say of one payment, because it dropped the block or its sender made it too large, holds up no other.
  it.each([
    ['in another block', 99],
    ['in the same block', 100],
  ])('does not wait for one %s about which no node can say anything', async (_where, height) => {
    const nodes = [fake('a'), fake('b'), fake('c')]
    const gone = { ...TX, txHash: 'gone', height, blockHash: `main-${height}` }
    const query: typeof deny = (node, transactions) => {
      if (transactions.some(({ txHash }) => txHash === 'gone'))
        throw new RpcFailure('split', 'the response is too large')
      return deny(node, transactions)
    }
    expect(await poolOf(...nodes).disputed([gone, TX], query)).toEqual(new Set(['gone']))
    expect(await poolOf(...nodes).disputed([TX, gone], query)).toEqual(new Set(['gone']))
    await expect(poolOf(...nodes).disputed([gone], query)).rejects.toEqual(expect.objectContaining({ kind: 'split' }))
  })

  // Guarantee: however many payments a stranger sends into blocks that nodes drop, a turn costs a bounded number of questions.
  it('asks once about a dropped block, sixteen times about others, and about the newest first', async () => {
    const at = (height: number, one: number) => ({ txHash: `tx${height}-${one}`, height, blockHash: `main-${height}` })
    const inOne = Array.from({ length: 500 }, (_, one) => at(7, one))
    const inMany = Array.from({ length: 90 }, (_, height) => at(height, 0))
    const requestsFor = async (due: readonly SeenTransaction[]): Promise<number> => {
      let requests = 0
      const pool = poolOf(fake('a'), fake('b'))
      const disputed = await pool.disputed([...due, TX], async (node, transactions) => {
        if (transactions.some(({ txHash }) => txHash === 'tx')) return []
        if (node.host === 'a') requests += 1
        throw new RpcFailure('pruned', 'the block was dropped')
      })
      expect(disputed.size).toBe(due.length)
      return requests
    }
    expect(await requestsFor(inOne)).toBe(1)
    expect(await requestsFor(inMany)).toBe(16)
  })

  // Guarantee: a block with more payments than a node's quota answers at once is confirmed little by little, and not never.
  it('keeps what a node said before it asked for a pause', async () => {
    let due: readonly SeenTransaction[] = Array.from({ length: 50 }, (_, one) => ({ ...TX, txHash: `tx${one}` }))
    let turns = 0
    for (; due.length > 0 && turns < 10; turns += 1) {
      let quota = 40
      const disputed = await poolOf(fake('a'), fake('b')).disputed(due, async ({ host }, { length }) => {
        if (host === 'a') return []
        quota -= length
        if (quota < 0) throw new RpcFailure('rate', 'too many requests', { retryAfterMs: 1_000 })
        return []
      })
      due = due.filter(({ txHash }) => disputed.has(txHash))
    }
    expect(turns).toBe(2)
  })

  it('asks a node that says nothing at all three times in a turn, and one that is away once', async () => {
    const many = Array.from({ length: 9 }, (_, one) => ({ txHash: `tx${one}`, height: one, blockHash: `main-${one}` }))
    const requestsOf = async (details: FailureDetails): Promise<number> => {
      const query = vi.fn(async (node: { readonly host: string }) => {
        if (node.host === 'b') throw new RpcFailure('late', 'no response', details)
        return []
      })
      expect((await poolOf(fake('a'), fake('b')).disputed(many, query)).size).toBe(many.length)
      return query.mock.calls.filter(([{ host }]) => host === 'b').length
    }
    expect(await requestsOf({ isSilent: true })).toBe(3)
    expect(await requestsOf({ isSilent: true, isAway: true })).toBe(1)
  })
})

describe('a transaction that another process scanned', () => {
  // Guarantee: where nobody knows which node made a payment, no single node can be the only one that shows it.
  it.each<[string, string[], Set<unknown>]>([
    ['both of two show it', [], NONE],
    ['one of two denies it', ['a'], DISPUTED],
    ['the other one of two denies it', ['b'], DISPUTED],
  ])('needs two nodes: %s', async (_what, deniers, expected) => {
    const nodes = ['a', 'b'].map((host) => fake(host, { denied: deniers.includes(host) ? ['tx'] : [] }))
    expect(await poolOf(...nodes).disputed([TX], deny)).toEqual(expected)
  })

  it('waits while only one of them answers', async () => {
    const silent = fake('b', { chain: 'silent' })
    expect(await poolOf(fake('a'), silent).disputed([TX], deny)).toEqual(DISPUTED)
  })
})

describe('who else could be asked', () => {
  it('is nobody where there is one node, or the others are on another chain', async () => {
    expect(await poolOf(fake('a')).disputed([TX], deny)).toEqual(NONE)
    expect(await poolOf(fake('a'), fake('b', { chain: 'other' })).disputed([TX], deny)).toEqual(NONE)
    expect(await poolOf(fake('a'), fake('b', { denied: ['tx'] })).disputed([], deny)).toEqual(NONE)
  })

  it.each([
    ['silent', { chain: 'silent' as const }],
    ['behind', { head: 99 }],
  ])('fails the question when it is %s', async (_what, change) => {
    const [a, b] = [fake('a'), fake('b', change)]
    const pool = poolOf(a, b)
    pool.noteBlocks(a, 1, 100)
    await expect(pool.disputed([TX], deny)).rejects.toEqual(unreliable)
    expect(await pool.use(name)).toBe('a')
  })

  it('is no node that was outvoted', async () => {
    const [a, b, c] = [fake('a', { fork: 'lie' }), fake('b'), fake('c', { chain: 'silent' })]
    const pool = poolOf(a, b, fake('d'), c)
    expect(await pool.voteOnFork({ height: 100, hash: 'main-100' })).toBe('kept')
    pool.noteBlocks(b, 1, 100)
    expect(await pool.disputed([TX], deny)).toEqual(NONE)
    expect(a.requests).toBe(0)
  })
})

describe('a transaction whose block two nodes gave', () => {
  // Guarantee: reading a block again on an honest node does not make the one that invented a payment in it its witness.
  it('is vouched for by both, or by a third one', async () => {
    const [a, b, c] = [fake('a'), fake('b', { denied: ['tx'] }), fake('c', { denied: ['tx'] })]
    const [two, three] = [poolOf(a, b), poolOf(a, b, c)]
    for (const pool of [two, three]) {
      pool.noteBlocks(a, 90, 100)
      pool.noteBlocks(b, 100, 100)
      expect(await pool.disputed([TX], deny)).toEqual(DISPUTED)
    }
    c.denied = []
    expect(await three.disputed([TX], deny)).toEqual(NONE)
    b.denied = []
    expect(await two.disputed([TX], deny)).toEqual(NONE)
  })
})

describe('who gave which block', () => {
  it('is known while one alone gave it; what lay above was replaced', () => {
    const sources = createBlockSources<string>()
    const of = (...heights: readonly number[]) => heights.map((height) => sources.of(height))
    sources.note('a', 1, 10)
    sources.note('a', 11, 20)
    sources.note('b', 21, 30)
    expect(of(0, 1, 15, 20, 21, 30, 31)).toEqual([undefined, 'a', 'a', 'a', 'b', 'b', undefined])
    sources.note('a', 19, 33)
    expect(of(18, 20, 21, 30, 31, 33, 34)).toEqual(['a', 'a', undefined, undefined, 'a', 'a', undefined])
    sources.note('b', 8, 12)
    expect(of(7, 8, 12, 13, 31)).toEqual(['a', undefined, undefined, undefined, undefined])
    sources.note('b', 8, 14)
    expect(of(7, 8, 12, 13, 14)).toEqual(['a', undefined, undefined, 'b', 'b'])
  })
})
