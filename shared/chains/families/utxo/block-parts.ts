import { z } from 'zod'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { isRefusal } from '../../nodes/unless-refused.ts'
import { wireList } from '../wire-list.ts'
import { bytesOfHex } from './byte-reader.ts'
import { unlessAbsent } from './core-failure.ts'

/** Most bytes of one response: a transaction of 4 MB is 8 MB of hex, and the ids of a full block are less. */
const LIMITS = { timeoutMs: 10_000, maxBytes: 16 * 2 ** 20 }

const idsSchema = z.object({ tx: wireList(z.string().regex(/^[0-9a-f]{64}$/)) })

/** The parts of a mined block, one by one. Every method throws `RpcFailure` when the node returns no usable response. */
export interface BlockParts {
  /** The serialised header; on merged-mined chains its proof may follow. */
  headerBytes(hash: string): Promise<Buffer>
  /** Ids of a block's transactions in their order. Only the header's Merkle root proves them. */
  blockIds(hash: string): Promise<readonly string[]>
  /**
   * A serialised transaction of this block. Throws `NodeUnreliable` when the node does not have it: Dogecoin Core 1.14 accepts
   * no block hash, and finds mined transactions only with `-txindex`.
   */
  minedTransaction(txid: string, blockHash: string): Promise<Buffer>
}

/** The parts as one node of the Bitcoin Core line returns them. */
export function createBlockParts(call: RpcNode['call']): BlockParts {
  // The third parameter was added in Bitcoin Core 0.16: the form that works is kept.
  let takesBlockHash = true
  const transaction = async (params: readonly unknown[]) =>
    bytesOfHex(await call('getrawtransaction', params, z.string(), LIMITS))

  async function byBlockHash(txid: string, blockHash: string): Promise<Buffer> {
    const found = await unlessAbsent(transaction([txid, false, blockHash]))
    if (found === null) throw new NodeUnreliable(`the node has no transaction ${txid} in block ${blockHash}`)
    return found
  }

  async function byIdAlone(txid: string, cause: unknown): Promise<Buffer> {
    const found = await unlessAbsent(transaction([txid]))
    takesBlockHash = found === null
    if (found !== null) return found
    throw new NodeUnreliable(
      `the node takes no block hash in getrawtransaction and has no transaction ${txid}: it needs -txindex`,
      { cause },
    )
  }

  return {
    headerBytes: async (hash) => bytesOfHex(await call('getblockheader', [hash, false], z.string(), LIMITS)),
    // Ids are the default everywhere; their parameter is a number in Bitcoin Core and a boolean in Dogecoin Core.
    blockIds: async (hash) => (await call('getblock', [hash], idsSchema, LIMITS)).tx,
    async minedTransaction(txid, blockHash) {
      if (!takesBlockHash) return byIdAlone(txid, null)
      try {
        return await byBlockHash(txid, blockHash)
      } catch (error) {
        if (!isRefusal(error)) throw error
        return byIdAlone(txid, error)
      }
    },
  }
}
