import { z } from 'zod'
import { NodeUnreliable } from '#shared/usecases/ports/scanning.ts'
import type { RpcNode } from '../../json-rpc.ts'
import { mapConcurrently } from '../../map-concurrently.ts'
import { RpcFailure } from '../../rpc-failure.ts'
import { coversBloom, createBloomTest } from './bloom.ts'
import { createLogSpan, type LogSpan } from './log-span.ts'
import { createPortionSize } from './portion-size.ts'
import { toQuantity } from './rpc.ts'
import { type Block, blockSchema, type Log, logSchema } from './wire.ts'

/** Blocks fetched at the same time. */
const PREFETCH = 8

/** A block with the logs of our contracts in it. */
export interface FetchedBlock {
  readonly block: Block
  readonly logs: readonly Log[]
}

/** Which logs are read. Every combination of a contract and a topic is taken. */
export interface LogFilter {
  /** Lower case. */
  readonly contracts: readonly string[]
  readonly topics: readonly string[]
  /** Most blocks that one request may span. */
  readonly rangeMax: number
}

/** Reads blocks `from`…`to` from one node, in portions: whoever keeps none of them holds one portion in memory at a time. */
export type BlockReader = (node: RpcNode, from: number, to: number) => AsyncIterable<readonly FetchedBlock[]>

/**
 * Reads blocks with the logs of a filter, in order and linked by their parent hashes.
 * Throws `NodeUnreliable` when a block is missing, when links or logs contradict the blocks, and when the node leaves out
 * logs that a block's bloom filter announces.
 */
export function createBlockReader(filter: LogFilter): BlockReader {
  const mayHold = createBloomTest()
  const readLogs = createLogReader(filter)
  const portion = createPortionSize()

  /** A filter that says "perhaps" without a log to show for it is settled by all logs of the block. */
  async function checkSilence(node: RpcNode, block: Block): Promise<void> {
    const { contracts, topics } = filter
    const bloom = Buffer.from(block.logsBloom.slice(2), 'hex')
    const perhaps = (entries: readonly string[]) => entries.some((entry) => mayHold(bloom, entry))
    if (!perhaps(topics) || !perhaps(contracts)) return
    const all = await node.call('eth_getLogs', [{ blockHash: block.hash }], z.array(logSchema))
    const ours = all.some(
      (log) => topics.includes(log.topics[0] ?? '') && contracts.includes(log.address.toLowerCase()),
    )
    if (ours || !coversBloom(bloom, all)) throw new NodeUnreliable(`the node left out logs of block ${block.number}`)
  }

  /** `parent` is the block before `from`, null for the first portion. */
  async function readPortion(node: RpcNode, from: number, to: number, parent: Block | null) {
    const heights = Array.from({ length: to - from + 1 }, (_, offset) => from + offset)
    const blocks = await mapConcurrently(heights, PREFETCH, (height) => readBlock(node, height))
    checkLinks(parent === null ? blocks : [parent, ...blocks])
    const logs = groupByHeight(await readLogs(node, from, to))
    const fetched = blocks.map((block) => ({ block, logs: logs.get(block.number) ?? [] }))
    await mapConcurrently(
      fetched.filter((entry) => entry.logs.length === 0),
      PREFETCH,
      ({ block }) => checkSilence(node, block),
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

/** Reads the logs of blocks `from`…`to`, in ranges that follow what each node allows. */
function createLogReader(filter: LogFilter) {
  const spans = new WeakMap<RpcNode, LogSpan>()

  /** The logs of a range, or the failure that asks for a smaller one. */
  async function readRange(node: RpcNode, from: number, to: number): Promise<readonly Log[] | RpcFailure> {
    const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
    const question = { ...range, address: filter.contracts, topics: [filter.topics] }
    try {
      const logs = await node.call('eth_getLogs', [question], z.array(logSchema))
      if (logs.some(({ blockNumber }) => blockNumber < from || blockNumber > to)) {
        throw new NodeUnreliable('the node gave logs of a block that was not asked for')
      }
      return logs
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === 'split') return error
      throw error
    }
  }

  return async (node: RpcNode, from: number, to: number): Promise<readonly Log[]> => {
    if (filter.contracts.length === 0) return []
    const span = spans.get(node) ?? createLogSpan(filter.rangeMax)
    spans.set(node, span)
    const logs: Log[] = []
    for (let start = from; start <= to; ) {
      const end = Math.min(to, start + span.blocks - 1)
      const asked = end - start + 1
      const found = await readRange(node, start, end)
      if (found instanceof RpcFailure) {
        // One block cannot be asked for in parts: another node may allow more.
        if (asked === 1) throw new RpcFailure('refused', found.message)
        span.shrink(asked, found.rangeMax)
        continue
      }
      if (asked > 1) await checkEnd(node, filter, found)
      span.grow(asked)
      logs.push(...found)
      start = end + 1
    }
    return logs
  }
}

function checkLinks(blocks: readonly Block[]): void {
  for (const [index, block] of blocks.entries()) {
    const parent = blocks[index - 1]
    if (parent !== undefined && block.parentHash !== parent.hash) {
      throw new NodeUnreliable(`the node's blocks ${parent.number} and ${block.number} are not linked`)
    }
  }
}

async function readBlock(node: RpcNode, height: number): Promise<Block> {
  const block = await node.call('eth_getBlockByNumber', [toQuantity(height), true], blockSchema.nullable())
  if (block === null) throw new NodeUnreliable(`the node has no block ${height}`)
  if (block.number !== height || block.transactions.some((transaction) => transaction.blockHash !== block.hash)) {
    throw new NodeUnreliable(`the node's block ${height} contradicts itself`)
  }
  return block
}

/** A node that cuts long lists off leaves the block incomplete in which it stopped, and the blocks above it empty. */
async function checkEnd(node: RpcNode, { contracts, topics }: LogFilter, found: readonly Log[]): Promise<void> {
  const last = found.reduce<Log | null>((one, log) => (one && one.blockNumber > log.blockNumber ? one : log), null)
  if (last === null) return
  const { blockNumber, blockHash } = last
  const question = { blockHash, address: contracts, topics: [topics] }
  const whole = await node.call('eth_getLogs', [question], z.array(logSchema))
  if (whole.length !== found.filter((log) => log.blockNumber === blockNumber).length) {
    throw new NodeUnreliable(`the node cut its logs off in block ${blockNumber}`)
  }
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
