import { z } from 'zod'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NodeMismatch, type SeenTransaction } from '#shared/ports/scanning.ts'
import type { NodeQuery } from '../../nodes/find-disputed.ts'
import { createJsonRpc, type RpcNode, type RpcOptions } from '../../nodes/json-rpc.ts'
import type { Demand, Search } from '../../nodes/pool-node.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { isRefusal, unlessRefused } from '../../nodes/unless-refused.ts'
import { type BlockParts, createBlockParts } from './block-parts.ts'
import { bytesOfHex } from './byte-reader.ts'
import { classify, unlessAbsent } from './core-failure.ts'
import { type IdList, ownText, readIdList, visitIds } from './id-list.ts'
import { parseHeader } from './parse-block.ts'
import { createProgressReads, type ProgressReads } from './progress-reads.ts'
import { baseUnits, createUnspentReads, type UnspentReads } from './unspent-reads.ts'

type Call = RpcNode['call']

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/)
/** Each id is checked when it is read, `readIdList`. */
const idsSchema = z.custom<IdList>(
  (ids) => typeof ids === 'object' && ids !== null && Symbol.iterator in ids,
  'no list of transaction ids',
)
const transactionSchema = z.object({ blockhash: hashSchema.optional() })
const placeSchema = z.object({ height: z.int().nonnegative(), confirmations: z.int() })
const tipSchema = z.object({ blocks: z.int().nonnegative(), bestblockhash: hashSchema })
/** Bitcoin Core 0.19 and later; Dogecoin Core 1.14 has no such field (both `rpc/blockchain.cpp`, `mempoolInfoToJSON`). */
const mempoolInfoSchema = z.object({ loaded: z.boolean().nullable().default(null) })
/** Seconds since 1970 by the node's clock: when it accepted the transaction, preserved across a restart (`mempool.dat`). */
const mempoolEntrySchema = z.object({ time: z.int().nonnegative() })
const trafficSchema = z.object({ totalbytesrecv: z.number().nonnegative(), timemillis: z.number().nonnegative() })
/** Coins per 1,000 virtual bytes; absent, or -1 in Dogecoin Core, while the node has seen too few blocks (`rpc/fees.cpp`). */
const estimateSchema = z.object({ feerate: z.number().positive() })
/** Blocks within which a moving transaction should confirm. */
const ESTIMATE_BLOCKS = 6
/** Reads of one node of the Bitcoin Core line. Every method throws `RpcFailure` when it returns no usable response. */
export interface CoreNode extends BlockParts, ProgressReads, UnspentReads {
  tip(): Promise<{ readonly height: number; readonly hash: string }>
  /** Null above the node's head. */
  hashAt(height: number): Promise<string | null>
  /** The serialised block. */
  block(hash: string): Promise<Buffer>
  header(at: { readonly height: number; readonly hash: string }): Promise<BlockRef>
  /** Ids of all unconfirmed transactions. */
  mempoolIds(): Promise<IdList>
  /** A serialised unconfirmed transaction; null when it is gone. */
  mempoolTransaction(txid: string): Promise<Buffer | null>
  /** Whether the node has reloaded the mempool of its last run; null when it does not report that. */
  mempoolLoaded(): Promise<boolean | null>
  /** When the node accepted an unconfirmed transaction, milliseconds of its own clock. Null when it is gone, or the node does not report it. */
  mempoolEntryTime(txid: string): Promise<number | null>
  /** Those of these transactions that are in its mempool. */
  heldUnconfirmed(txids: readonly string[]): Promise<readonly string[]>
  /** The node's uptime, milliseconds; null when it does not report it (Dogecoin Core 1.14 does not). */
  uptimeMs(): Promise<number | null>
  /** Bytes received since its start, and its clock in milliseconds; null when it does not report them. */
  traffic(): Promise<{ readonly receivedBytes: number; readonly nowMs: number } | null>
  /**
   * Hash of the block that contains a transaction, `unconfirmed` for one in no block; null when the node has none. A node
   * without an index (`-txindex`) finds few mined ones.
   */
  blockOf(txid: string): Promise<string | null>
  /** Height of a block; null when the node does not have it, or only on a branch. */
  heightOf(hash: string): Promise<number | null>
  /** The node's estimate of the fee for six blocks, base units per 1,000 virtual bytes. */
  feeRate(): Promise<bigint>
}

/** Runs each piece of work on one of a network's nodes. */
export interface CoreRpc {
  /** All responses come from one node; when that fails, another one repeats the work. See `RpcPool`. */
  use<T>(work: (node: CoreNode) => Promise<T>, demand?: Demand<T>): Promise<T>
  /** `use` for work whose results are the blocks `from`…`to`. */
  scan<T>(work: (node: CoreNode) => Promise<T>, blocks: { readonly from: number; readonly to: number }): Promise<T>
  /** Runs work on every node. See `RpcPool`. */
  each<T>(work: (node: CoreNode) => Promise<T>, search: Search): Promise<readonly T[]>
  /** Ids of the transactions that no second node confirms. See `RpcPool`. */
  disputed(transactions: readonly SeenTransaction[], query: NodeQuery<CoreNode>): Promise<ReadonlySet<string>>
  /** Result of comparing a scanned block across all nodes. See `RpcPool`. */
  voteOnFork: RpcPool<RpcNode>['voteOnFork']
  /** Which nodes are down. */
  silence: RpcPool<RpcNode>['silence']
  /** The chain's newest block on the node in use. */
  tip(): ReturnType<CoreNode['tip']>
  /** Checks that at least one node is on our chain. Throws `NodeMismatch` when all are on another one. */
  verify(): Promise<void>
  close(): Promise<void>
}

/** Settings for the client of one network and mode; `genesis` is the hash of the nodes' block 0, or `any`. */
export type CoreRpcOptions = Pick<RpcOptions, 'urls' | 'metrics' | 'labels'> & { readonly genesis: string }

/** Bitcoin Core, Litecoin Core or Dogecoin Core over JSON-RPC, without a wallet. Opens nothing until the first call. */
export function createCoreRpc({ genesis, ...options }: CoreRpcOptions): CoreRpc {
  const pool = createJsonRpc({
    ...options,
    classify,
    async identify(call, host) {
      const answered = await call('getblockhash', [0], hashSchema)
      if (genesis !== 'any' && answered !== genesis) {
        throw new NodeMismatch(`the node at ${host} is on the chain that begins with ${answered}, not with ${genesis}`)
      }
    },
    headHeight: async (call) => (await readTip(call)).height,
    hashAt: readHash,
  })
  const nodes = new Map<RpcNode, CoreNode>()

  function coreOf(node: RpcNode): CoreNode {
    const core = nodes.get(node) ?? createCoreNode(node.call)
    nodes.set(node, core)
    return core
  }

  return {
    use: (work, demand) => pool.use((node) => work(coreOf(node)), demand),
    scan: (work, { from, to }) =>
      pool.use(
        async (node) => {
          const blocks = await work(coreOf(node))
          pool.noteBlocks(node, from, to)
          return blocks
        },
        { height: to },
      ),
    each: (work, search) => pool.each((node) => work(coreOf(node)), search),
    disputed: (transactions, query) => pool.disputed(transactions, (node, batch) => query(coreOf(node), batch)),
    voteOnFork: (block) => pool.voteOnFork(block),
    silence: () => pool.silence(),
    tip: () =>
      pool.use(async (node) => {
        const tip = await readTip(node.call)
        pool.noteHead(node, tip.height)
        return tip
      }),
    // A node is identified before it is used.
    verify: () => pool.use(async () => {}),
    close: () => pool.close(),
  }
}

function createCoreNode(call: Call): CoreNode {
  const hex = async (method: string, params: readonly unknown[]) => bytesOfHex(await call(method, params, z.string()))
  const listIds = () => call('getrawmempool', [], idsSchema, { readBody: readIdList })
  // Dogecoin Core accepts the verbosity of a block only as a boolean, others as a number: the form that works is kept.
  let raw: 0 | false = 0

  return {
    ...createBlockParts(call),
    ...createProgressReads(call),
    ...createUnspentReads(call),
    tip: () => readTip(call),
    hashAt: (height) => readHash(call, height),
    async block(hash) {
      const form = raw
      try {
        return await hex('getblock', [hash, form])
      } catch (error) {
        if (!isRefusal(error)) throw error
        const other = form === 0 ? false : 0
        const block = await hex('getblock', [hash, other])
        raw = other
        return block
      }
    },
    header: async (at) => parseHeader(await hex('getblockheader', [at.hash, false]), at),
    mempoolIds: listIds,
    mempoolTransaction: (txid) => unlessAbsent(hex('getrawtransaction', [txid])),
    mempoolLoaded: async () => (await unlessRefused(call('getmempoolinfo', [], mempoolInfoSchema)))?.loaded ?? null,
    async mempoolEntryTime(txid) {
      const entry = await unlessRefused(unlessAbsent(call('getmempoolentry', [txid], mempoolEntrySchema)))
      return entry === null ? null : entry.time * 1_000
    },
    async heldUnconfirmed(txids) {
      // Needed for a few transactions and rarely: the whole list is the call that every node and provider offers.
      const wanted = new Set(txids)
      const held: string[] = []
      await visitIds(await listIds(), (txid) => {
        if (wanted.has(txid)) held.push(ownText(txid))
      })
      return held
    },
    async uptimeMs() {
      const seconds = await unlessRefused(call('uptime', [], z.number().nonnegative()))
      return seconds === null ? null : seconds * 1_000
    },
    async traffic() {
      const totals = await unlessRefused(call('getnettotals', [], trafficSchema))
      return totals === null ? null : { receivedBytes: totals.totalbytesrecv, nowMs: totals.timemillis }
    },
    async blockOf(txid) {
      const found = await unlessAbsent(call('getrawtransaction', [txid, 1], transactionSchema))
      return found === null ? null : (found.blockhash ?? 'unconfirmed')
    },
    feeRate: async () => baseUnits((await call('estimatesmartfee', [ESTIMATE_BLOCKS], estimateSchema)).feerate),
    async heightOf(hash) {
      const found = await unlessAbsent(call('getblockheader', [hash, true], placeSchema))
      return found === null || found.confirmations < 1 ? null : found.height
    },
  }
}

async function readTip(call: Call): ReturnType<CoreNode['tip']> {
  const { blocks, bestblockhash } = await call('getblockchaininfo', [], tipSchema)
  return { height: blocks, hash: bestblockhash }
}

function readHash(call: Call, height: number): Promise<string | null> {
  return unlessAbsent(call('getblockhash', [height], hashSchema))
}
