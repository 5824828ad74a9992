import { z } from 'zod'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { coversBloom, createBloomTest } from './bloom.ts'
import { createLogSpan, type LogSpan } from './log-span.ts'
import { toQuantity } from './rpc.ts'
import { type Block, type Log, logSchema } from './wire.ts'

const LOGS = 'eth_getLogs'

/** Which logs are read. Every combination of a contract and a topic is taken. */
export interface LogFilter {
  /** Lower case. */
  readonly contracts: readonly string[]
  readonly topics: readonly string[]
  /** Most blocks that one request may span. */
  readonly rangeMax: number
}

/** Reads the logs of a filter from one node. Throws `NodeUnreliable` when the node contradicts itself or leaves logs out. */
export interface LogReader {
  /** The logs of blocks `from`…`to`, in ranges that follow what each node allows. */
  range(node: RpcNode, from: number, to: number): Promise<readonly Log[]>
  /** Throws when a block for which the node gave no logs should have some: its bloom filter announces them. */
  checkSilence(node: RpcNode, block: Block): Promise<void>
}

/** Whether a filter takes a log. */
export function takesLog({ contracts, topics }: LogFilter, log: Log): boolean {
  return topics.includes(log.topics[0] ?? '') && contracts.includes(log.address.toLowerCase())
}

/** Remembers how many blocks each node allows in one request. */
export function createLogReader(filter: LogFilter): LogReader {
  const mayHold = createBloomTest()
  const spans = new WeakMap<RpcNode, LogSpan>()

  /** The logs of a range, or the failure that asks for a smaller one. */
  async function readRange(node: RpcNode, from: number, to: number): Promise<readonly Log[] | RpcFailure> {
    const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
    const question = { ...range, address: filter.contracts, topics: [filter.topics] }
    try {
      const logs = await node.call(LOGS, [question], z.array(logSchema))
      if (logs.some(({ blockNumber }) => blockNumber < from || blockNumber > to)) {
        throw new NodeUnreliable('the node gave logs of a block that was not asked for')
      }
      return logs
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === 'split') return error
      throw error
    }
  }

  return {
    async range(node, from, to) {
      if (filter.contracts.length === 0) return []
      const span = spans.get(node) ?? createLogSpan(filter.rangeMax)
      spans.set(node, span)
      const logs: Log[] = []
      for (let start = from; start <= to; ) {
        const end = Math.min(to, start + span.blocks - 1)
        const asked = end - start + 1
        const ask = () => readRange(node, start, end)
        const found =
          asked === 1
            ? await inBlock({ height: start, hash: null }, LOGS, async () => orThrow(await ask()))
            : await ask()
        if (found instanceof RpcFailure) {
          span.shrink(asked, found.rangeMax)
          continue
        }
        if (asked > 1) await checkEnd(node, filter, found)
        span.grow(asked)
        logs.push(...found)
        start = end + 1
      }
      return logs
    },
    async checkSilence(node, block) {
      const { contracts, topics } = filter
      const bloom = Buffer.from(block.logsBloom.slice(2), 'hex')
      const perhaps = (entries: readonly string[]) => entries.some((entry) => mayHold(bloom, entry))
      if (!perhaps(topics) || !perhaps(contracts)) return
      // A filter that says "perhaps" without a log to show for it is settled by all logs of the block.
      const all = await node.call(LOGS, [{ blockHash: block.hash }], z.array(logSchema))
      const ours = all.some((log) => takesLog(filter, log))
      if (ours || !coversBloom(bloom, all)) throw new NodeUnreliable(`the node left out logs of block ${block.number}`)
    },
  }
}

/** One block cannot be asked for in parts. */
function orThrow(found: readonly Log[] | RpcFailure): readonly Log[] {
  if (found instanceof RpcFailure) throw found
  return found
}

/** A node that cuts long lists off leaves the block incomplete in which it stopped, and the blocks above it empty. */
async function checkEnd(node: RpcNode, { contracts, topics }: LogFilter, found: readonly Log[]): Promise<void> {
  const last = found.reduce<Log | null>((one, log) => (one && one.blockNumber > log.blockNumber ? one : log), null)
  if (last === null) return
  const { blockNumber, blockHash } = last
  const question = { blockHash, address: contracts, topics: [topics] }
  const whole = await node.call(LOGS, [question], z.array(logSchema))
  if (whole.length !== found.filter((log) => log.blockNumber === blockNumber).length) {
    throw new NodeUnreliable(`the node cut its logs off in block ${blockNumber}`)
  }
}
