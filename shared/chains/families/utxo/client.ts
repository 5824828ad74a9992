import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import {
  type ChainClient,
  NodeUnreliable,
  type ScannedBlock,
  type WatchIndex,
} from '#shared/usecases/ports/scanning.ts'
import type { ChainDefinition, OutputChainRules } from '../../chain.ts'
import { mapConcurrently } from '../../map-concurrently.ts'
import { type CoreRpc, createCoreRpc } from './core-rpc.ts'
import { blockTransfers, type ExtractScope, spendersAmong } from './extract.ts'
import { createMempoolReader } from './mempool.ts'
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
  const hashAt = async (height: number) => present(await rpc.hashAt(height), height)

  return {
    async verify() {
      // The transport compares the first block before any answer is used.
      await hashAt(0)
    },
    genesisHash: () => hashAt(0),
    head: async () => ({ ...(await rpc.tip()), finalizedHeight: null }),
    async blockAt(height) {
      const hash = await rpc.hashAt(height)
      return hash === null ? null : rpc.header({ height, hash })
    },
    async scan(from, to, watches, outpoints = new Set()) {
      const asked = outpointsByWire(outpoints)
      const heights = Array.from({ length: to - from + 1 }, (_, offset) => from + offset)
      const blocks = await mapConcurrently(heights, PREFETCH, async (height) => {
        const at = { height, hash: await hashAt(height) }
        return scanBlock(rpc, { scope, rules, at, watches, asked })
      })
      checkLinks(blocks)
      return blocks
    },
    mempool: createMempoolReader(rpc, scope),
    close: () => rpc.close(),
  }
}

interface BlockQuestion {
  readonly scope: ExtractScope
  readonly rules: OutputChainRules
  readonly at: { readonly height: number; readonly hash: string }
  readonly watches: WatchIndex
  /** Outpoints by their hex on the wire. */
  readonly asked: ReadonlyMap<string, string>
}

async function scanBlock(rpc: CoreRpc, { scope, rules, at, watches, asked }: BlockQuestion): Promise<ScannedBlock> {
  const { transactions, ...block } = parseBlock(await rpc.block(at.hash), at, rules)
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

function present(hash: string | null, height: number): string {
  if (hash === null) throw new NodeUnreliable(`the node has no block ${height}`)
  return hash
}
