import { describe, expect, it } from 'vitest'
import { createRpcPool } from '../../nodes/rpc-pool.ts'
import type { TronNode } from './api.ts'
import { readBlocks } from './client.ts'
import { createHeadReader } from './head.ts'

const BLOCK_MS = 3_000
/** Block 1 of this chain; block n comes n − 1 slots later. */
const FIRST_AT = 1_700_000_001_000
/** What TronGrid gives away each day, and blocks of a day. */
const REQUESTS_PER_DAY = 100_000
const BLOCKS_PER_DAY = 86_400_000 / BLOCK_MS

/** A chain of empty blocks, each seen some time after it was made, and who reads its head. */
function stage({
  blockTimeMs = BLOCK_MS,
  lateMs = () => 0,
  solidOf = (head) => Math.max(1, head - 18),
}: {
  blockTimeMs?: number
  lateMs?: (n: number) => number
  solidOf?: (head: number) => number
} = {}) {
  const clock = { time: FIRST_AT }
  const requests: string[] = []
  const id = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, 'a')
  const seenAt = (height: number) => FIRST_AT + (height - 1) * BLOCK_MS + lateMs(height)
  const headHeight = () => {
    let height = 1
    while (seenAt(height + 1) <= clock.time) height += 1
    return height
  }
  const block = (height: number) => ({
    blockID: id(height),
    block_header: {
      raw_data: { number: height, timestamp: FIRST_AT + (height - 1) * BLOCK_MS, parentHash: id(height - 1) },
    },
  })
  const answers: Readonly<Record<string, () => unknown>> = {
    'wallet/getnowblock': () => block(headHeight()),
    'walletsolidity/getnowblock': () => block(solidOf(headHeight())),
    'wallet/gettransactioninfobyblocknum': () => [],
  }
  const node: TronNode = {
    host: 'node',
    latencyMs: 1,
    identify: async () => {},
    headHeight: async () => headHeight(),
    hashAt: async () => null,
    close: async () => {},
    call: async (path, _params, schema) => {
      requests.push(path)
      return schema.parse(answers[path]?.())
    },
  }
  const metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
  const pool = createRpcPool({ nodes: [node], metrics, labels: {} })
  return { clock, requests, node, ...createHeadReader(pool, blockTimeMs, () => clock.time) }
}

describe('the head of a public chain', () => {
  // Guarantee: one scanner of the main network fits into a free key of TronGrid.
  it('is watched, and its blocks read, with fewer requests than a day allows', async () => {
    const { clock, requests, node, head, newestOf } = stage({ lateMs: (height) => 300 + ((height * 7) % 10) * 70 })
    let height = (await head()).height
    const from = height
    const startedAt = clock.time
    while (height < from + 200) {
      const { height: newest } = await head()
      if (newest > height) await readBlocks(node, height + 1, newest, newestOf(node))
      // A step that brought something is followed by the next one at once.
      if (newest === height) clock.time += 500
      height = newest
    }
    expect((requests.length / 200) * BLOCKS_PER_DAY).toBeLessThan(REQUESTS_PER_DAY * 0.95)
    expect(clock.time - startedAt).toBeLessThan(201 * BLOCK_MS + 1_500)
  })

  // Guarantee: the newest block, which an answer that belongs to another request may be, never passes for a solid one.
  it('has no solid block among the newest eighteen, whatever the node says', async () => {
    const { clock, head } = stage({ solidOf: (newest) => newest })
    clock.time += 40 * BLOCK_MS
    const { height, finalizedHeight } = await head()
    expect(finalizedHeight).toBe(height - 18)
  })

  it('is not asked for before another block is due, and then until it is there', async () => {
    const { clock, requests, head } = stage()
    await head()
    const before = requests.length
    clock.time += BLOCK_MS + 400
    expect((await head()).height).toBe(1)
    expect(requests.length).toBe(before)
    clock.time += 100
    expect((await head()).height).toBe(2)
  })

  it('is asked for every time when our clock is behind the block’s', async () => {
    const { clock, requests, head } = stage()
    clock.time -= 1
    await head()
    await head()
    expect(requests.filter((path) => path === 'wallet/getnowblock')).toHaveLength(2)
  })

  // Guarantee: a network that becomes quicker than its row is followed at its own pace from the second head on.
  it('is asked for as often as blocks come, where that is more often than the row says', async () => {
    const { clock, head } = stage({ blockTimeMs: 10 * BLOCK_MS })
    await head()
    clock.time += 10 * BLOCK_MS + 500
    const { height } = await head()
    clock.time += BLOCK_MS + 500
    expect((await head()).height).toBe(height + 1)
  })

  it('brings the solid block with every third one', async () => {
    const { clock, requests, head } = stage()
    for (let blocks = 0; blocks < 8; blocks += 1) {
      await head()
      clock.time += BLOCK_MS + 500 - (blocks === 0 ? 0 : 500)
    }
    expect(requests.filter((path) => path.startsWith('walletsolidity')).length).toBe(3)
    expect((await head()).finalizedHeight).not.toBeNull()
  })
})

it('the head of a local chain is asked for every time, with its solid block', async () => {
  const { clock, requests, head } = stage({ blockTimeMs: 0 })
  await head()
  clock.time += BLOCK_MS
  await head()
  expect(requests).toEqual([
    'wallet/getnowblock',
    'walletsolidity/getnowblock',
    'wallet/getnowblock',
    'walletsolidity/getnowblock',
  ])
})
