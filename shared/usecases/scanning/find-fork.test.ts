import { describe, expect, it } from 'vitest'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import { findFork, isTooDeep } from './find-fork.ts'
import { extendWindow, type HashWindow } from './scan-window.ts'

const HEAD = 1_000
const blockOf = (height: number, branch: string) => ({
  height,
  hash: `${branch}${height}`,
  parentHash: `${branch}${height - 1}`,
  time: height,
})

/** A node whose branch leaves the scanned one above `fork`. */
const nodeWithFork = (fork: number) =>
  ({ blockAt: async (height: number) => blockOf(height, height > fork ? 'b' : 'a') }) as unknown as ChainClient
const windowOf = (heights: readonly number[]): HashWindow => heights.map((height) => [height, `a${height}`] as const)

const evaluate = async (
  window: HashWindow,
  fork: number,
  finalityDepth: number,
  finalizedHeight: number | null = null,
) => isTooDeep(await findFork(nodeWithFork(fork), window, HEAD), { height: HEAD, finalizedHeight, finalityDepth })

describe('a reorganisation', () => {
  // Guarantee: how far apart hashes are remembered does not decide whether the network halts.
  it.each([
    { what: 'between sparse hashes', window: [700, 872, 936, 968, 984, 992, 996, 998, 999, HEAD], finalityDepth: 65 },
    { what: 'above an old position alone', window: [10, HEAD], finalityDepth: 65 },
    { what: 'of a long full window', window: [704, 768, 832, 873, HEAD], finalityDepth: 256 },
  ])('$what is followed at every permitted depth', async ({ window, finalityDepth }) => {
    for (let depth = 1; depth <= finalityDepth; depth += 1) {
      expect(await evaluate(windowOf(window), HEAD - depth, finalityDepth)).toBe(false)
      expect(await evaluate(windowOf(window), HEAD - depth, finalityDepth, HEAD - depth)).toBe(false)
    }
  })

  it('of a remembered block that is final, or too deep, is not followed', async () => {
    const window = windowOf([500, 900, 950, HEAD])
    expect(await evaluate(window, 899, 65)).toBe(true)
    expect(await evaluate(window, 949, 65, 950)).toBe(true)
    expect(await evaluate(window, 950, 65, 950)).toBe(false)
    expect(await evaluate(windowOf([900, HEAD]), 10, 2_000)).toBe(true)
  })

  // Guarantee: a network goes on where the first blocks behind skipped ones are replaced: no node has the block below them.
  it('ends at a block that no node has, where the node has its child', async () => {
    const node = (parentHash: string) => ({
      blockAt: async (height: number) => {
        if (height <= 57) throw Object.assign(new NodeUnreliable('no longer there'), { isGone: true })
        return { ...blockOf(height, 'b'), ...(height === 58 && { parentHash }) }
      },
    })
    const find = (parentHash: string) =>
      findFork(node(parentHash) as unknown as ChainClient, windowOf([31, 57, 58, 60]), HEAD)
    const fork = { block: { height: 57, hash: 'a57', time: 57 }, lowestGone: 58 }
    expect(await find('a57')).toMatchObject(fork)
    await expect(find('b57')).rejects.toThrow('no longer there')
  })
})

describe('the hash window', () => {
  // Guarantee: however long a step was, some block below the finality depth is remembered.
  it.each([1, 50, 200, 700, 5_000])('keeps a block below the finality depth over steps of %i', (step) => {
    let window = windowOf([3])
    const wrong: number[] = []
    for (let height = 3 + step; height < 30_000; height += step) {
      window = extendWindow(window, windowOf([height]), 256)
      const depths = window.map(([at]) => height - at)
      const least = Math.min(256, height - 3)
      const nearest = Math.min(...depths.filter((depth) => depth >= least))
      // A window without such a block has none nearer than infinity. 30,000 calls of `expect` would take seconds.
      if (nearest >= 256 + step + 64) wrong.push(height)
    }
    expect(wrong).toEqual([])
  })
})
