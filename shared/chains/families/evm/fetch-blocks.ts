import { z } from 'zod'
import { NodeUnreliable } from '#shared/usecases/ports/scanning.ts'
import type { RpcClient } from '../../json-rpc.ts'
import { mapConcurrently } from '../../map-concurrently.ts'
import { RpcFailure } from '../../rpc-failure.ts'
import { coversBloom, createBloomTest } from './bloom.ts'
import { TRANSFER_TOPIC } from './extract.ts'
import { type Block, blockSchema, type Log, logSchema } from './wire.ts'

/** Blocks fetched at the same time. */
const PREFETCH = 8

/** A block with the transfer logs of our contracts in it. */
export interface FetchedBlock {
  readonly block: Block
  readonly logs: readonly Log[]
}

/** An Ethereum JSON-RPC quantity. */
export function toQuantity(height: number): string {
  return `0x${height.toString(16)}`
}

/**
 * Reads blocks `from`…`to` with the Transfer logs of `contracts`, in order and linked by their parent hashes.
 * Throws `NodeUnreliable` when a block is missing, when links or logs contradict the blocks, and when the node leaves out
 * logs that a block's bloom filter announces.
 */
export function createBlockReader(rpc: RpcClient, contracts: readonly string[]) {
  const mayHold = createBloomTest()

  async function readBlock(height: number): Promise<Block> {
    const block = await rpc.call('eth_getBlockByNumber', [toQuantity(height), true], blockSchema.nullable())
    if (block === null) throw new NodeUnreliable(`the node has no block ${height}`)
    if (block.number !== height || block.transactions.some((transaction) => transaction.blockHash !== block.hash)) {
      throw new NodeUnreliable(`the node's block ${height} contradicts itself`)
    }
    return block
  }

  async function readLogs(from: number, to: number): Promise<readonly Log[]> {
    if (contracts.length === 0) return []
    const filter = {
      fromBlock: toQuantity(from),
      toBlock: toQuantity(to),
      address: contracts,
      topics: [TRANSFER_TOPIC],
    }
    try {
      return await rpc.call('eth_getLogs', [filter], z.array(logSchema))
    } catch (error) {
      if (!(error instanceof RpcFailure) || error.kind !== 'split' || from === to) throw error
      const middle = Math.floor((from + to) / 2)
      return [...(await readLogs(from, middle)), ...(await readLogs(middle + 1, to))]
    }
  }

  /** A filter that says "perhaps" without a log to show for it is settled by all logs of the block. */
  async function checkSilence(block: Block): Promise<void> {
    const bloom = Buffer.from(block.logsBloom.slice(2), 'hex')
    if (!mayHold(bloom, TRANSFER_TOPIC) || !contracts.some((contract) => mayHold(bloom, contract))) return
    const all = await rpc.call('eth_getLogs', [{ blockHash: block.hash }], z.array(logSchema))
    const ours = all.some((log) => log.topics[0] === TRANSFER_TOPIC && contracts.includes(log.address.toLowerCase()))
    if (ours || !coversBloom(bloom, all)) throw new NodeUnreliable(`the node left out logs of block ${block.number}`)
  }

  return async (from: number, to: number): Promise<readonly FetchedBlock[]> => {
    const heights = Array.from({ length: to - from + 1 }, (_, offset) => from + offset)
    const blocks = await mapConcurrently(heights, PREFETCH, readBlock)
    for (const [index, block] of blocks.entries()) {
      const parent = blocks[index - 1]
      if (parent !== undefined && block.parentHash !== parent.hash) {
        throw new NodeUnreliable(`the node's blocks ${parent.number} and ${block.number} are not linked`)
      }
    }
    const logs = groupByHeight(await readLogs(from, to))
    for (const height of logs.keys()) {
      if (height < from || height > to) throw new NodeUnreliable(`the node gave logs of block ${height}, unasked`)
    }
    const fetched = blocks.map((block) => ({ block, logs: logs.get(block.number) ?? [] }))
    await mapConcurrently(
      fetched.filter((entry) => entry.logs.length === 0),
      PREFETCH,
      ({ block }) => checkSilence(block),
    )
    return fetched
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
