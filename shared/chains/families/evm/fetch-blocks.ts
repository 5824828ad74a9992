import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { checkLinks } from '../../nodes/check-links.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { createPortionSize } from './portion-size.ts'
import { createLogReader, type LogFilter } from './read-logs.ts'
import { toQuantity } from './rpc.ts'
import { type Block, blockSchema, type Log } from './wire.ts'

/** Blocks fetched at the same time. */
const PREFETCH = 8

/** A block with the logs of the filtered contracts. */
export interface FetchedBlock {
  readonly block: Block
  readonly logs: readonly Log[]
}

/** Reads blocks `from`…`to` from one node, in portions: a caller that keeps none of them holds one portion in memory at a time. */
export type BlockReader = (node: RpcNode, from: number, to: number) => AsyncIterable<readonly FetchedBlock[]>

/**
 * Reads blocks with the logs of a filter, in order and linked by their parent hashes.
 * Throws `NodeUnreliable` when links or logs of several blocks contradict each other, and `BlockUnreadable` when one block is
 * missing, contradicts itself, or lacks logs that its bloom filter announces.
 */
export function createBlockReader(filter: LogFilter): BlockReader {
  const logReader = createLogReader(filter)
  const portion = createPortionSize()

  /** `parent` is the block before `from`, null for the first portion. */
  async function readPortion(node: RpcNode, from: number, to: number, parent: Block | null) {
    const heights = Array.from({ length: to - from + 1 }, (_, offset) => from + offset)
    const blocks = await mapConcurrently(heights, PREFETCH, (height) =>
      inBlock({ height, hash: null }, 'eth_getBlockByNumber', () => readBlock(node, height)),
    )
    checkLinks((parent === null ? blocks : [parent, ...blocks]).map((one) => ({ ...one, height: one.number })))
    const logs = groupByHeight(await logReader.range(node, from, to))
    const fetched = blocks.map((block) => ({ block, logs: logs.get(block.number) ?? [] }))
    await mapConcurrently(
      fetched.filter((entry) => entry.logs.length === 0),
      PREFETCH,
      ({ block }) =>
        inBlock({ height: block.number, hash: block.hash }, 'eth_getLogs', () => logReader.checkSilence(node, block)),
    )
    return fetched
  }

  return async function* (node, from, to) {
    let parent: Block | null = null
    for (let start = from; start <= to; ) {
      const end = Math.min(to, start + portion.blocks - 1)
      const fetched: readonly FetchedBlock[] = await readPortion(node, start, end, parent)
      portion.learn(
        fetched.length,
        fetched.reduce((sum, { block, logs }) => sum + block.transactions.length + logs.length, 0),
      )
      parent = fetched.at(-1)?.block ?? null
      yield fetched
      start = end + 1
    }
  }
}

/** One block with its transactions. Throws `NodeUnreliable` when it is missing or contradicts itself. */
export async function readBlock(node: RpcNode, height: number): Promise<Block> {
  const block = await node.call('eth_getBlockByNumber', [toQuantity(height), true], blockSchema.nullable())
  if (block === null) throw new NodeUnreliable(`the node has no block ${height}`)
  if (block.number !== height || block.transactions.some((transaction) => transaction.blockHash !== block.hash)) {
    throw new NodeUnreliable(`the node's block ${height} contradicts itself`)
  }
  return block
}

function groupByHeight(logs: readonly Log[]): ReadonlyMap<number, readonly Log[]> {
  const groups = new Map<number, Log[]>()
  for (const log of logs) {
    const group = groups.get(log.blockNumber)
    if (group === undefined) groups.set(log.blockNumber, [log])
    else group.push(log)
  }
  return groups
}
