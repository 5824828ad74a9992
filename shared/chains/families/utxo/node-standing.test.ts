import { beforeEach, describe, expect, it } from 'vitest'
import { NodeBehind } from '#shared/ports/scanning.ts'
import { createStandingWatch, type StandingNode } from './node-standing.ts'
import type { ChainProgress } from './progress-reads.ts'

const MINUTE_MS = 60_000
const START = 1_800_000_000_000

let now = START
let progress: ChainProgress
let count: number | null
let peers: { since: number; headers: number }[] | null
let tipTime: number
let node: StandingNode

beforeEach(() => {
  now = START
  progress = { blocks: 270, hash: 'h270', headers: 270, isDownloading: false, verified: 1 }
  count = 1
  peers = [{ since: START - 60 * MINUTE_MS, headers: 270 }]
  tipTime = START - 5 * MINUTE_MS
  node = {
    progress: async () => progress,
    header: async ({ height, hash }) => ({ height, hash, parentHash: '', time: tipTime }),
    peerCount: async () => count,
    peers: async () => peers,
    traffic: async () => ({ receivedBytes: 0, nowMs: now }),
  }
})

const open = (isLive = false, isLocal = false) => {
  const watch = createStandingWatch({ isLocal, isLive, now: () => now })
  return { look: () => watch.unproven(node, 'nothing follows'), chain: () => watch.requireChain(node) }
}
const later = (ms: number) => {
  now += ms
}
const lose = () => {
  count = 0
  peers = []
}
const find = (headers: number) => {
  count = 1
  peers = [{ since: now, headers }]
}

describe('a node', () => {
  it('that has every block and peers is current', async () => {
    const { look, chain } = open()
    expect(await look()).toBeNull()
    await chain()
  })

  // Guarantee: what a node does not report is never taken for a good sign.
  it.each<[string, Partial<ChainProgress>, RegExp]>([
    ['downloads', { isDownloading: true, headers: 300, blocks: 100, verified: 0.128 }, /block 100 of 300 \(12 %\)/],
    ['lacks blocks', { headers: 300 }, /still reads blocks: block 270 of 300/],
    ['does not report its download and has a part', { isDownloading: null, headers: null, verified: 0.4 }, /40 %/],
  ])('that %s is not', async (_what, change, words) => {
    progress = { ...progress, ...change }
    for (const request of Object.values(open())) {
      const failure = await request().catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(NodeBehind)
      expect(String(failure)).toMatch(words)
    }
    await open(false, true).chain()
  })

  it('of a live chain whose download is not reported needs a block of the last day', async () => {
    progress = { ...progress, isDownloading: null, headers: null, verified: null }
    tipTime = START - 25 * 60 * MINUTE_MS
    await expect(open(true).chain()).rejects.toThrow(/older than a day/)
    tipTime = START - 23 * 60 * MINUTE_MS
    await open(true).chain()
  })

  it('whose newest header came a moment ago is not left, and proves nothing until it has the block', async () => {
    const { look, chain } = open()
    progress = { ...progress, headers: 271 }
    expect(await look()).toMatch(/block 271/)
    await chain()
    progress = { ...progress, blocks: 271, hash: 'h271' }
    expect(await look()).toBeNull()
  })
})

describe('a node that had no peers', () => {
  // Guarantee: a first peer that is as old as the node lets no deadline pass.
  it('proves nothing until a new block, whatever its first peer has', async () => {
    const { look } = open()
    await look()
    lose()
    await expect(look()).rejects.toThrow(/no peers/)
    later(1_000)
    find(-1)
    expect(await look()).toMatch(/had no peers/)
    find(270)
    later(9 * MINUTE_MS)
    expect(await look()).toMatch(/had no peers/)
    progress = { ...progress, blocks: 271, headers: 271, hash: 'h271' }
    expect(await look()).toBeNull()
    later(1_000)
    expect(await look()).toBeNull()
  })

  it('between two looks is found by its connections', async () => {
    const { look } = open()
    await look()
    later(10_000)
    find(270)
    expect(await look()).toMatch(/had no peers/)
  })

  it('proves it after ten minutes with a peer that has its newest block, and with no other', async () => {
    const { look } = open()
    lose()
    await expect(look()).rejects.toThrow(/no peers/)
    later(1_000)
    find(-1)
    later(10 * MINUTE_MS)
    expect(await look()).toMatch(/had no peers/)
    peers = [{ since: now - 10 * MINUTE_MS, headers: 270 }]
    expect(await look()).toBeNull()
  })

  it('keeps its contact while one of its peers stays', async () => {
    const { look } = open()
    await look()
    later(10_000)
    peers = [...(peers ?? []), { since: now - 1_000, headers: -1 }]
    expect(await look()).toBeNull()
    later(10_000)
    peers = peers.slice(1)
    expect(await look()).toBeNull()
  })

  it('and was started just before is not trusted with an old block', async () => {
    find(270)
    tipTime = START - 11 * MINUTE_MS
    expect(await open().look()).toMatch(/had no peers/)
    tipTime = START - 9 * MINUTE_MS
    expect(await open().look()).toBeNull()
  })

  it('is found by their number where it does not list them', async () => {
    const { look } = open()
    peers = null
    await look()
    lose()
    peers = null
    await expect(look()).rejects.toThrow(/no peers/)
    count = 1
    expect(await look()).toMatch(/had no peers/)
    progress = { ...progress, hash: 'other' }
    expect(await look()).toBeNull()
  })
})
