import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { type FailureKind, RpcFailure } from '../../nodes/rpc-failure.ts'
import { coversBloom, createBloomTest } from './bloom.ts'
import { createLogSpan, type LogSpan } from './log-span.ts'
import { toQuantity } from './rpc.ts'
import { type Block, type Log, logsSchema } from './wire.ts'

const LOGS = 'eth_getLogs'
/**
 * Failures after which a smaller range is requested: providers refuse wide ranges in ever new words, and under the codes of a wrong
 * request, a missing method or a rate.
 */
const SMALLER: ReadonlySet<FailureKind> = new Set<FailureKind>(['split', 'refused', 'unclear', 'pruned'])

/** Most blocks of one request for the logs of few accounts; nodes with a lower limit state it. */
export const LOG_RANGE_MAX = 5_000

/** Logs to read: every combination of a contract and a topic. */
export interface LogFilter {
  /** Lower case. */
  readonly contracts: readonly string[]
  readonly topics: readonly string[]
  /** Most blocks that one request may span. */
  readonly rangeMax: number
}

/** Reads the logs of a filter from one node. Throws `NodeUnreliable` when the node contradicts itself or omits logs. */
export interface LogReader {
  /** The logs of blocks `from`…`to`, in ranges that follow what each node allows. */
  range(node: RpcNode, from: number, to: number): Promise<readonly Log[]>
  /**
   * Those whose third topic is one of `recipients`, padded to words; null where that takes more requests than `most` at the ranges that the node
   * allows, which is learned on the way.
   */
  within(
    node: RpcNode,
    range: {
      readonly from: number
      readonly to: number
      readonly recipients: readonly string[]
      readonly most: number
    },
  ): Promise<readonly Log[] | null>
  /** Throws when a block for which the node returned no logs should have some: its bloom filter announces them. */
  checkSilence(node: RpcNode, block: Block): Promise<void>
}

/** Topics of a request by position: any of a list, or all of them. */
type Topics = readonly (readonly string[] | null)[]

/** Whether a filter matches a log. */
export function takesLog({ contracts, topics }: LogFilter, log: Log): boolean {
  return topics.includes(log.topics[0] ?? '') && contracts.includes(log.address.toLowerCase())
}

/** Keeps the allowed range of one request per node. */
export function createLogReader(filter: LogFilter): LogReader {
  const mayHold = createBloomTest()
  const spans = new WeakMap<RpcNode, LogSpan>()

  /** The logs of a range, or the failure after which a smaller one may be served. */
  async function readRange(
    node: RpcNode,
    from: number,
    to: number,
    topics: Topics,
  ): Promise<readonly Log[] | RpcFailure> {
    const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
    const question = { ...range, address: filter.contracts, topics }
    try {
      const logs = await node.call(LOGS, [question], logsSchema)
      if (logs.some(({ blockNumber }) => blockNumber < from || blockNumber > to)) {
        throw new NodeUnreliable('the node gave logs of a block that was not asked for')
      }
      return logs
    } catch (error) {
      if (error instanceof RpcFailure && SMALLER.has(error.kind)) return error
      if (error instanceof RpcFailure && error.kind === 'late') spanOf(node).shrink(to - from + 1, null)
      throw error
    }
  }

  function spanOf(node: RpcNode): LogSpan {
    const span = spans.get(node) ?? createLogSpan(filter.rangeMax)
    spans.set(node, span)
    return span
  }

  /** Null when the logs take more requests than `most`. */
  async function within(
    node: RpcNode,
    { from, to, topics, most }: { from: number; to: number; topics: Topics; most: number | null },
  ): Promise<readonly Log[] | null> {
    if (filter.contracts.length === 0) return []
    const span = spanOf(node)
    const logs: Log[] = []
    let requests = 0
    for (let start = from; start <= to; ) {
      // What a node allows is learned on the way.
      if (most !== null && requests + Math.ceil((to - start + 1) / span.blocks) > most) {
        span.givenUp()
        return null
      }
      requests += 1
      const end = Math.min(to, start + span.blocks - 1)
      const count = end - start + 1
      const get = () => readRange(node, start, end, topics)
      const found =
        count === 1 ? await inBlock({ height: start, hash: null }, LOGS, async () => orThrow(await get())) : await get()
      if (found instanceof RpcFailure) {
        span.shrink(count, found.rangeMax)
        continue
      }
      if (count > 1) await checkEnd(node, filter.contracts, topics, found)
      span.grow(count)
      for (const log of found) logs.push(log)
      start = end + 1
    }
    return logs
  }

  return {
    range: async (node, from, to) => (await within(node, { from, to, topics: [filter.topics], most: null })) ?? [],
    within: (node, { from, to, recipients, most }) =>
      within(node, { from, to, topics: [filter.topics, null, recipients], most }),
    async checkSilence(node, block) {
      const { contracts, topics } = filter
      const bloom = Buffer.from(block.logsBloom.slice(2), 'hex')
      const perhaps = (entries: readonly string[]) => entries.some((entry) => mayHold(bloom, entry))
      if (!perhaps(topics) || !perhaps(contracts)) return
      // A positive filter without a matching log is checked against all logs of the block.
      const all = await node.call(LOGS, [{ blockHash: block.hash }], logsSchema)
      const ours = all.some((log) => takesLog(filter, log))
      if (ours || !coversBloom(bloom, all)) throw new NodeUnreliable(`the node left out logs of block ${block.number}`)
    },
  }
}

/** A single block cannot be requested in parts. */
function orThrow(found: readonly Log[] | RpcFailure): readonly Log[] {
  if (found instanceof RpcFailure) throw found
  return found
}

/** A node that truncates long lists leaves its last block incomplete, and the blocks above it empty. */
async function checkEnd(
  node: RpcNode,
  contracts: readonly string[],
  topics: Topics,
  found: readonly Log[],
): Promise<void> {
  const last = found.reduce<Log | null>((one, log) => (one && one.blockNumber > log.blockNumber ? one : log), null)
  if (last === null) return
  const { blockNumber, blockHash } = last
  const question = { blockHash, address: contracts, topics }
  const whole = await node.call(LOGS, [question], logsSchema)
  if (whole.length !== found.filter((log) => log.blockNumber === blockNumber).length) {
    throw new NodeUnreliable(`the node cut its logs off in block ${blockNumber}`)
  }
}
