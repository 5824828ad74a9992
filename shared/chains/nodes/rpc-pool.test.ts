import { describe, expect, it } from 'vitest'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { useFakeNodes } from '#test/support/fake-nodes.ts'
import { RpcDenial, RpcFailure } from './rpc-failure.ts'

const { fake, poolOf, name, clock, gauges } = useFakeNodes()
const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })

describe('the node in use', () => {
  it('is the first one, and stays while it works', async () => {
    const pool = poolOf(fake('a'), fake('b', { latencyMs: 1 }))
    expect(await pool.use(name)).toBe('a')
    expect(await pool.use(name)).toBe('a')
  })

  // Guarantee: blocks and logs of two nodes never mix in one scan.
  it('does a whole piece of work, which begins again on the next node when it fails', async () => {
    const pool = poolOf(fake('a'), fake('b'))
    const trail: string[] = []
    const answer = await pool.use(async (node) => {
      trail.push(`${node.host}1`)
      if (node.host === 'a') throw new NodeUnreliable('a lies')
      trail.push(`${node.host}2`)
      return node.host
    })
    expect([answer, trail]).toEqual(['b', ['a1', 'b1', 'b2']])
    clock.time += 1_000_000
    expect(await pool.use(name)).toBe('b')
  })

  it('is followed by the quickest that rarely fails', async () => {
    const [a, b, c] = [fake('a', { chain: 'silent' }), fake('b', { latencyMs: 50 }), fake('c', { latencyMs: 20 })]
    expect(await poolOf(a, b, c).use(name)).toBe('c')
  })

  it('keeps its place when what was asked for does not exist, or when our own code fails', async () => {
    const pool = poolOf(fake('a'), fake('b'))
    for (const error of [new RpcDenial('absent', 'none', { method: 'm', host: 'h' }), new TypeError('ours')]) {
      await expect(pool.use(() => Promise.reject(error))).rejects.toBe(error)
    }
    expect(await pool.use(name)).toBe('a')
  })

  it('is asked although it rests when there is no other', async () => {
    const a = fake('a', { chain: 'silent' })
    const pool = poolOf(a)
    await expect(pool.use(name)).rejects.toEqual(unreliable)
    a.chain = 'ours'
    expect(await pool.use(name)).toBe('a')
  })
})

describe('a node that asks for a pause', () => {
  it('gets it, and nobody is asked when all do', async () => {
    const [a, b] = [fake('a'), fake('b')]
    const pool = poolOf(a, b)
    const limited = () => Promise.reject(new RpcFailure('retry', '429', { retryAfterMs: 20_000 }))
    await expect(pool.use(limited)).rejects.toEqual(unreliable)
    await expect(pool.use(name)).rejects.toThrow('every node asked for a pause')
    expect([a.requests, b.requests]).toEqual([0, 0])
    clock.time = 20_000
    expect(await pool.use(name)).toBe('a')
  })
})

describe('a block that one node has dropped', () => {
  const dropped = new RpcFailure('pruned', 'pruned data')
  const read = (failures: Readonly<Record<string, Error>>) => (node: { readonly host: string }) =>
    Promise.reject(failures[node.host] ?? dropped)

  // Guarantee: blocks count as gone for all nodes only where each was asked and said so. One that pauses for its rate may have them.
  it.each([
    ['pauses', new RpcFailure('rate', '429', { retryAfterMs: 60_000 })],
    ['failed once', new RpcFailure('late', 'no response')],
  ])('may be at another one that %s', async (_what, failure) => {
    const pool = poolOf(fake('a'), fake('b'))
    for (let times = 0; times < 2; times += 1) await expect(pool.use(read({ b: failure }))).rejects.toEqual(unreliable)
    expect(pool.silence()).toMatchObject({ hosts: [], failing: ['b'] })
  })

  it('is no failure of that one, and ends earlier ones', async () => {
    const pool = poolOf(fake('a'), fake('b'))
    await expect(pool.use(read({ a: new NodeUnreliable('absent') }))).rejects.toEqual(unreliable)
    expect(pool.silence().failing).toEqual(['a'])
    await expect(pool.use(read({}))).rejects.toBe(dropped)
    expect(pool.silence().failing).toEqual([])
  })
})

describe('what a node has dropped', () => {
  const busy = new RpcFailure('rate', '429', { retryAfterMs: 60_000 })
  const settles = (found: string | null): boolean => found !== null
  const demand = { settles, search: 'balances' } as const
  /** `gone` in what nodes say, null; other nodes give their name, or fail. */
  const state = (nodes: Readonly<Record<string, 'gone' | Error>>) => async (node: { readonly host: string }) => {
    const word = nodes[node.host]
    if (word instanceof Error) throw word
    return word === 'gone' ? null : node.host
  }

  it('another one gives, and the one in use stays in use', async () => {
    const pool = poolOf(fake('a'), fake('b'))
    expect(await pool.use(state({ a: 'gone' }), demand)).toBe('b')
    expect(await pool.use(name)).toBe('a')
  })

  // Guarantee: a node's word that balances are gone counts for all of them only where each of the others said so as well.
  it.each([
    ['pauses', busy],
    ['does not respond', new RpcFailure('late', 'no response')],
    ['gives another block', new NodeUnreliable('of another block')],
  ])('may be at another one that %s: its word counts after ten minutes', async (_what, failure) => {
    const pool = poolOf(fake('a'), fake('b'))
    const work = state({ a: 'gone', b: failure })
    for (let minute = 0; minute < 10; minute += 1) {
      await expect(pool.use(work, demand)).rejects.toEqual(unreliable)
      await expect(pool.each(work, 'balances')).rejects.toBe(failure)
      expect(pool.silence().unheard).toEqual([])
      clock.time += 60_000
    }
    expect(await pool.use(work, demand)).toBe(null)
    expect(await pool.each(work, 'balances')).toEqual([null])
    expect(pool.silence().unheard).toEqual(['b'])
  })

  // Guarantee: a node that is down for good, or never serves one kind of question, holds up decisions once, and operators see which one.
  it('is not waited for again until the other one answers such a search', async () => {
    const pool = poolOf(fake('a'), fake('b'))
    const [down, up] = [state({ a: 'gone', b: new NodeUnreliable('no') }), state({ a: 'gone', b: 'gone' })]
    const wait = async () => {
      for (let minute = 0; minute < 10; minute += 1) {
        await expect(pool.each(down, 'balances')).rejects.toEqual(unreliable)
        clock.time += 60_000
      }
      expect(await pool.each(down, 'balances')).toEqual([null])
    }
    await wait()
    clock.time += 3_600_000
    // What it answers besides does not count.
    await pool.each(up, 'logs')
    expect(await pool.each(down, 'balances')).toEqual([null])
    await expect(pool.each(down, 'logs')).rejects.toEqual(unreliable)
    expect(pool.silence().unheard).toEqual(['b'])
    expect(await pool.each(up, 'balances')).toEqual([null, null])
    expect(pool.silence().unheard).toEqual([])
    await wait()
  })

  // Guarantee: two failures far apart are no ten minutes of waiting.
  it('is waited for again when the last search was long ago', async () => {
    const pool = poolOf(fake('a'), fake('b'))
    for (let hour = 0; hour < 3; hour += 1) {
      await expect(pool.each(state({ b: new NodeUnreliable('no') }), 'balances')).rejects.toEqual(unreliable)
      clock.time += 3_600_000
    }
  })

  it('is gone at once where the others say so, or are on another chain, or nobody waits', async () => {
    const gone = state({ a: 'gone', b: 'gone' })
    for (const pool of [
      poolOf(fake('a'), fake('b')),
      poolOf(fake('a'), fake('b', { chain: 'other' })),
      poolOf(fake('a')),
    ]) {
      expect(await pool.use(gone, demand)).toBe(null)
      expect(new Set(await pool.each(gone, 'balances'))).toEqual(new Set([null]))
    }
    const pool = poolOf(fake('a'), fake('b'))
    const work = state({ a: 'gone', b: busy })
    expect(await pool.use(work, { settles })).toBe(null)
  })
})

describe('case 12: a node that lags', () => {
  it('is not asked for blocks above its head, and does not rest for it', async () => {
    const [a, b] = [fake('a', { chain: 'silent' }), fake('b', { head: 97 })]
    const pool = poolOf(a, b)
    await expect(pool.use(name, { height: 98 })).rejects.toEqual(unreliable)
    expect(b.requests).toBe(0)
    expect(await pool.use(name, { height: 97 })).toBe('b')
    b.head = 98
    expect(await pool.use(name, { height: 98 })).toBe('b')
  })

  it('is left for one that is further', async () => {
    const [a, b] = [fake('a', { head: 97 }), fake('b', { head: 120 })]
    const pool = poolOf(a, b)
    pool.noteHead(a, 97)
    await pool.survey()
    expect(await pool.use(name)).toBe('b')
  })

  it('is looked at from time to time, in the background', async () => {
    const [a, b] = [fake('a', { head: 97 }), fake('b', { head: 120 })]
    const pool = poolOf(a, b)
    clock.time = 60_000
    pool.noteHead(a, 97)
    await pool.close()
    expect(await pool.use(name)).toBe('b')
  })
})

describe('case 13: a node on another chain', () => {
  // Guarantee: a wrong node costs its own answers and nobody else's.
  it('is left out while others go on, and taken back when it is mended', async () => {
    const [a, b] = [fake('a', { chain: 'other' }), fake('b')]
    const pool = poolOf(a, b)
    expect(await pool.use(name)).toBe('b')
    expect(gauges.get('scanner_node_excluded a')).toBe(1)
    a.chain = 'ours'
    clock.time = 120_000
    await pool.survey()
    expect(gauges.get('scanner_node_excluded a')).toBe(0)
  })

  it('is the answer only when all are', async () => {
    const mismatch = expect.objectContaining({ name: 'NodeMismatch' })
    await expect(poolOf(fake('a', { chain: 'other' })).use(name)).rejects.toEqual(mismatch)
    const mixed = poolOf(fake('a', { chain: 'other' }), fake('b', { chain: 'silent' }))
    await expect(mixed.use(name)).rejects.toEqual(unreliable)
    await expect(mixed.each(name, 'logs')).rejects.toEqual(unreliable)
    expect(await poolOf(fake('a', { chain: 'other' }), fake('b')).each(name, 'logs')).toEqual(['b'])
  })
})

it('counts nodes that disagree about a settled block', async () => {
  const [a, b] = [fake('a'), fake('b', { fork: 'other' })]
  const pool = poolOf(a, b)
  pool.noteHead(a, 100)
  await pool.survey()
  expect(gauges.get('scanner_node_disagrees b')).toBe(1)
  b.fork = 'main'
  await pool.survey()
  expect(gauges.get('scanner_node_disagrees b')).toBe(0)
})

// Guarantee: a node that follows a branch of its own is noticed while it is in use, although its blocks contradict nothing that was read from it.
describe('the node in use on another branch than', () => {
  it('most of the others is left out, and theirs is read', async () => {
    const [a, b, c] = [fake('a', { fork: 'own' }), fake('b'), fake('c')]
    const pool = poolOf(a, b, c)
    pool.noteHead(a, 100)
    await pool.survey()
    expect(await pool.use(name)).not.toBe('a')
    expect(pool.silence().differing).toEqual([])
  })

  it('the only other one is named until they agree, however long it takes', async () => {
    const [a, b] = [fake('a', { fork: 'own' }), fake('b')]
    const pool = poolOf(a, b)
    for (let minute = 0; minute < 20; minute += 1) {
      pool.noteHead(a, 100)
      await pool.survey()
      expect(pool.silence().differing).toEqual([{ host: 'b', height: 84 }])
      clock.time += 60_000
    }
    expect(await pool.use(name)).toBe('a')
    b.fork = 'own'
    await pool.survey()
    expect(pool.silence().differing).toEqual([])
  })

  it('one of two others is left out neither, while the third one is silent', async () => {
    const [a, b, c] = [fake('a'), fake('b', { fork: 'own' }), fake('c', { chain: 'silent' })]
    const pool = poolOf(a, b, c)
    pool.noteHead(a, 100)
    await pool.survey()
    expect(pool.silence().differing).toEqual([{ host: 'b', height: 84 }])
    expect(await pool.use(name)).toBe('a')
  })
})
