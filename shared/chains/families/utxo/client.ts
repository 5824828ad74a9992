import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import {
  type ChainClient,
  NodeUnreliable,
  type ScannedBlock,
  type SeenTransaction,
  type WatchIndex,
} from '#shared/ports/scanning.ts'
import type { ChainDefinition, OutputChainRules } from '../../definitions/chain.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { createPatientScan } from '../../nodes/patient-scan.ts'
import { type CoreNode, createCoreRpc } from './core-rpc.ts'
import { blockTransfers, type ExtractScope, spendersAmong } from './extract.ts'
import { locateTransaction } from './locate-transaction.ts'
import { createMempoolReader } from './mempool.ts'
import { createLoadWatch } from './mempool-load.ts'
import { outpointsByWire } from './outpoint.ts'
import { parseBlock } from './parse-block.ts'
import { createAddressPrinter } from './script-address.ts'

/** Blocks fetched at the same time; each may be 4 MB. */
const PREFETCH = 4

/** Everything a client needs; a further descendant of Bitcoin is another definition here, and nothing else. */
export interface UtxoClientOptions {
  readonly chain: ChainDefinition
  readonly rules: OutputChainRules
  readonly mode: Mode
  readonly rpcUrls: readonly string[]
  /** Hash of block 0 that the nodes must have, or `any` for a local chain. */
  readonly genesis: string
  /** The network's coin. */
  readonly asset: AssetId
  readonly metrics: Metrics
}

/** A chain client that holds connections and sees the mempool. */
export interface UtxoClient extends Omit<ChainClient, 'mempool'>, Required<Pick<ChainClient, 'mempool'>> {
  close(): Promise<void>
}

/**
 * Reads one chain of the Bitcoin family from nodes without a wallet. Blocks are read raw and proven by their hashes, so
 * amounts are exact and no output can be invented; outputs are matched by script in this process. Opens nothing until
 * the first call.
 */
export function createUtxoClient(options: UtxoClientOptions): UtxoClient {
  const { chain, mode, rules, asset } = options
  const rpc = createCoreRpc({
    urls: options.rpcUrls,
    genesis: options.genesis,
    metrics: options.metrics,
    labels: { network: chain.id, mode },
  })
  const printAddress = createAddressPrinter(chain, rules, mode)
  const scope: ExtractScope = { keyPrefix: `${mode}:${chain.id}`, asset, rules, printAddress }
  const isLoaded = createLoadWatch()
  const unconfirmed = createMempoolReader(scope, isLoaded)
  // What an isolated node does not have may well be paid; a local chain has one node and no peers.
  const isHearing = async (node: CoreNode) => options.genesis === 'any' || (await node.isConnected())
  const patientScan = createPatientScan()

  return {
    verify: () => rpc.verify(),
    genesisHash: () => rpc.use((node) => hashAt(node, 0)),
    head: async () => ({ ...(await rpc.tip()), finalizedHeight: null }),
    blockAt: (height) =>
      rpc.use(async (node) => {
        const hash = await node.hashAt(height)
        return hash === null ? null : node.header({ height, hash })
      }),
    async scan(from, to, watches, outpoints = new Set()) {
      const question = { scope, rules, watches, asked: outpointsByWire(outpoints) }
      const scan = (low: number, high: number) =>
        rpc.scan((node) => scanBlocks(node, low, high, question), { from: low, to: high })
      const blocks = await patientScan({ scan }, from, to)
      return blocks.map((block) => ({ ...block, agesMs: unconfirmed.agesMs(block.transfers) }))
    },
    mempool: (watches, outpoints) =>
      rpc.use(async (node) => {
        if (!(await isHearing(node))) {
          throw new NodeUnreliable('the node has no peers, or not the whole chain: its mempool says nothing')
        }
        return unconfirmed.read(node, watches, outpoints)
      }),
    async heldUnconfirmed(txids) {
      const held = await rpc.each(async (node) => {
        if (!(await isHearing(node)) || !(await isLoaded(node))) return txids
        return node.heldUnconfirmed(txids)
      })
      return new Set(held.flat())
    },
    doubted: (transactions) => rpc.doubted(transactions, unshown),
    silence: () => rpc.silence(),
    judge: (block) => rpc.judge(block),
    locate: (txHash) => rpc.use((node) => locateTransaction(node, rules, txHash)),
    used: (addresses) =>
      rpc.use(async (node) => {
        // An isolated node may lack the newest blocks; a local chain has one node and no peers.
        if (options.genesis !== 'any' && !(await node.isConnected())) {
          throw new NodeUnreliable('the node has no peers, or not the whole chain: it cannot say what was never used')
        }
        return node.unspentScripts(addresses.map(({ matchKey }) => matchKey))
      }),
    close: () => rpc.close(),
  }
}

/**
 * Ids of those whose block a node does not have. A block's hash stands for its transactions: the scan read them out of the
 * block that this hash proves.
 */
async function unshown(node: CoreNode, transactions: readonly SeenTransaction[]): Promise<readonly string[]> {
  const answers = await mapConcurrently(transactions, PREFETCH, async ({ height, blockHash, txHash }) =>
    (await hashAt(node, height)) === blockHash ? [] : [txHash],
  )
  return answers.flat()
}

async function scanBlocks(
  node: CoreNode,
  from: number,
  to: number,
  question: BlockQuestion,
): Promise<readonly ScannedBlock[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, offset) => from + offset)
  const blocks = await mapConcurrently(heights, PREFETCH, async (height) => {
    const hash = await inBlock({ height, hash: null }, 'getblockhash', () => hashAt(node, height))
    return inBlock({ height, hash }, 'getblock', () => scanBlock(node, { height, hash }, question))
  })
  checkLinks(blocks)
  return blocks
}

interface BlockQuestion {
  readonly scope: ExtractScope
  readonly rules: OutputChainRules
  readonly watches: WatchIndex
  /** Outpoints by their hex on the wire. */
  readonly asked: ReadonlyMap<string, string>
}

async function scanBlock(
  node: CoreNode,
  at: { readonly height: number; readonly hash: string },
  { scope, rules, watches, asked }: BlockQuestion,
): Promise<ScannedBlock> {
  const { transactions, ...block } = parseBlock(await node.block(at.hash), at, rules)
  return {
    ...block,
    transfers: blockTransfers(scope, transactions, watches),
    spent: spendersAmong(transactions, asked),
  }
}

function checkLinks(blocks: readonly ScannedBlock[]): void {
  for (const [index, block] of blocks.entries()) {
    const parent = blocks[index - 1]
    if (parent !== undefined && block.parentHash !== parent.hash) {
      throw new NodeUnreliable(`the node's blocks ${parent.height} and ${block.height} are not linked`)
    }
  }
}

async function hashAt(node: CoreNode, height: number): Promise<string> {
  const hash = await node.hashAt(height)
  if (hash === null) throw new NodeUnreliable(`the node has no block ${height}`)
  return hash
}
