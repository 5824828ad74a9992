import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { createBlockReader } from './fetch-blocks.ts'

const digest = (height: number, kind = 'b') => `0x${kind.repeat(8)}${height.toString(16).padStart(56, '0')}`

/** A node whose blocks hold `transactions` each; the block at `severed` names another parent. */
function nodeOf({ transactions, severed = -1 }: { readonly transactions: number; readonly severed?: number }): RpcNode {
  const call = async <T>(_method: string, [number]: readonly unknown[], schema: z.ZodType<T>): Promise<T> => {
    const height = Number(number)
    const blockHash = digest(height)
    const transaction = { blockHash, hash: digest(0, 'd'), from: `0x${'1'.repeat(40)}`, to: null, value: '0x1' }
    return schema.parse({
      number,
      hash: blockHash,
      parentHash: height === severed ? digest(height - 1, 'e') : digest(height - 1),
      timestamp: '0x1',
      logsBloom: `0x${'0'.repeat(512)}`,
      transactions: Array.from({ length: transactions }, () => transaction),
    })
  }
  return { call } as unknown as RpcNode
}

async function portions(node: RpcNode, from: number, to: number): Promise<readonly (readonly number[])[]> {
  const read = createBlockReader({ contracts: [], topics: [], rangeMax: 100 })
  const found: number[][] = []
  for await (const portion of read(node, from, to)) found.push(portion.map(({ block }) => block.number))
  return found
}

describe('blocks are read in portions', () => {
  it('of as many as fit in memory, in order and without a gap', async () => {
    // Guarantee: catching up over full blocks holds a few of them at a time, not a whole batch.
    const read = await portions(nodeOf({ transactions: 2_000 }), 10, 59)
    expect(read.flat()).toEqual(Array.from({ length: 50 }, (_, index) => 10 + index))
    expect(read.slice(1).every((portion) => portion.length <= 4)).toBe(true)
  })

  it('of many where they are empty', async () => {
    expect((await portions(nodeOf({ transactions: 0 }), 1, 50)).map(({ length }) => length)).toEqual([16, 32, 2])
  })

  it.each([13, 26, 27])('that stand on each other: block %i does not', async (severed) => {
    const reading = portions(nodeOf({ transactions: 0, severed }), 10, 40)
    await expect(reading).rejects.toMatchObject({ name: 'NodeUnreliable' })
  })
})
