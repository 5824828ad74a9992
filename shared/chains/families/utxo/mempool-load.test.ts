import { beforeEach, describe, expect, it } from 'vitest'
import { createLoadWatch, type LoadNode } from './mempool-load.ts'

const MINUTE_MS = 60_000

let now = 0
let says: {
  loaded: boolean | null
  uptimeMs: number | null
  traffic: { receivedBytes: number; nowMs: number } | null
  peerSince: number | null
}
let node: LoadNode
let isLoaded: () => Promise<boolean>

beforeEach(() => {
  now = 0
  says = { loaded: null, uptimeMs: null, traffic: null, peerSince: null }
  node = {
    mempoolLoaded: async () => says.loaded,
    uptimeMs: async () => says.uptimeMs,
    traffic: async () => says.traffic,
    oldestPeerSince: async () => says.peerSince,
  }
  const watch = createLoadWatch(() => now)
  isLoaded = () => watch(node)
})

describe('a mempool', () => {
  it('is read when the node says so, and at no other time', async () => {
    says.loaded = false
    says.uptimeMs = 60 * MINUTE_MS
    now = 60 * MINUTE_MS
    expect(await isLoaded()).toBe(false)
    says.loaded = true
    says.uptimeMs = 0
    expect(await isLoaded()).toBe(true)
  })

  it('of a node without that field is read ten minutes after its start', async () => {
    says.uptimeMs = 10 * MINUTE_MS - 1
    expect(await isLoaded()).toBe(false)
    says.uptimeMs = 10 * MINUTE_MS
    expect(await isLoaded()).toBe(true)
  })

  // Guarantee: Dogecoin Core 1.14, which says neither, is not believed right after a start.
  it('of a node that says nothing of its start is read ten minutes after the first answer', async () => {
    expect(await isLoaded()).toBe(false)
    now = 10 * MINUTE_MS - 1
    expect(await isLoaded()).toBe(false)
    now = 10 * MINUTE_MS
    expect(await isLoaded()).toBe(true)
  })

  it('is read at once when a connection of the node is older than that, by its own clock', async () => {
    says.traffic = { receivedBytes: 7, nowMs: 1_000 * MINUTE_MS }
    says.peerSince = 990 * MINUTE_MS + 1
    expect(await isLoaded()).toBe(false)
    says.peerSince = 990 * MINUTE_MS
    expect(await isLoaded()).toBe(true)
  })

  it('is not read any more when the node began to count again: it was restarted', async () => {
    says.traffic = { receivedBytes: 1_000, nowMs: 0 }
    await isLoaded()
    now = 30 * MINUTE_MS
    expect(await isLoaded()).toBe(true)
    says.traffic = { receivedBytes: 999, nowMs: 0 }
    expect(await isLoaded()).toBe(false)
    now = 40 * MINUTE_MS
    expect(await isLoaded()).toBe(true)
  })
})
