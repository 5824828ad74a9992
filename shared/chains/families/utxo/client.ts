import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeBehind, NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import { ASSETS } from '../../definitions/assets.ts'
import type { ChainDefinition, OutputChainRules } from '../../definitions/chain.ts'
import { checkLinks } from '../../nodes/check-links.ts'
import { ignoreUnclear } from '../../nodes/ignore-unclear.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { NodeLag } from '../../nodes/node-roster.ts'
import { nullWhere } from '../../nodes/null-where.ts'
import { createPatientScan } from '../../nodes/patient-scan.ts'
import { LOCATED } from '../../nodes/pool-node.ts'
import { type CoreNode, type CoreRpc, createCoreRpc } from './core-rpc.ts'
import { type BlockQuestion, blockTransfers, type ExtractScope, spendersAmong, unspentTransfers } from './extract.ts'
import { hashAt } from './hash-at.ts'
import { locateTransaction } from './locate-transaction.ts'
import { createMempoolReader } from './mempool.ts'
import { createLoadWatch } from './mempool-load.ts'
import { createStandingWatch, type StandingWatch } from './node-standing.ts'
import { outpointsByWire } from './outpoint.ts'
import { parseBlock } from './parse-block.ts'
import { createProbe } from './probe.ts'
import { readAlone } from './read-alone.ts'
import { createAddressPrinter } from './script-address.ts'
import type { UnspentOutput } from './unspent-reads.ts'
import { createUtxoFunds } from './utxo-funds.ts'

/** Blocks fetched at the same time; each may be 4 MB. */
const PREFETCH = 4

/** Settings of a client; a further descendant of Bitcoin is another definition here, and nothing else. */
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

/** A chain client that holds connections and reads the mempool. */
export interface UtxoClient extends Omit<ChainClient, 'mempool'>, Required<Pick<ChainClient, 'mempool'>> {
  close(): Promise<void>
}

/**
 * Reads one chain of the Bitcoin family from nodes without a wallet. Blocks are read raw and verified by their hashes, so
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
  const dustBase = parseUnits(ASSETS[asset].dust, ASSETS[asset].decimals)
  const scope: ExtractScope = { keyPrefix: `${mode}:${chain.id}`, asset, dustBase, rules, printAddress }
  const isLoaded = createLoadWatch()
  const unconfirmed = createMempoolReader(scope, isLoaded)
  const standing = createStandingWatch({ isLocal: options.genesis === 'any', isLive: mode === 'live' })
  const patientScan = createPatientScan()

  return {
    async verify() {
      await rpc.verify()
      return []
    },
    genesisHash: () => rpc.use((node) => hashAt(node, 0)),
    head: async () => ({ ...(await rpc.tip()), finalizedHeight: null }),
    currentHead: () =>
      rpc.use(async (node) => {
        await standing.requireChain(node)
        return { ...(await node.tip()), finalizedHeight: null }
      }),
    blockAt: (height) =>
      rpc.use(async (node) => {
        const hash = await node.hashAt(height)
        return hash === null ? null : node.header({ height, hash })
      }),
    async scan(from, to, watches, outpoints = new Set()) {
      const question = { scope, watches, outpoints: outpointsByWire(outpoints) }
      const ways = {
        scan: (low: number, high: number) =>
          rpc.scan((node) => scanBlocks(node, { low, high }, question, rules), { from: low, to: high }),
        async scanAlone(height: number) {
          const block = await rpc.scan((node) => readAlone(node, height, question), { from: height, to: height })
          options.metrics.count('scanner_blocks_read_alone_total', { network: chain.id, mode })
          return block
        },
      }
      const blocks = await patientScan(ways, from, to)
      return blocks.map((block) => ({ ...block, agesMs: unconfirmed.agesMs(block.transfers) }))
    },
    mempool: (watches, outpoints) =>
      rpc.use(async (node) => {
        const unproven = await standing.unproven(node, 'its mempool shows nothing about missing payments')
        return { ...(await unconfirmed.read(node, watches, outpoints)), unproven }
      }),
    heldUnconfirmed: (txids) =>
      heldUnconfirmed(rpc, txids, async (node) => (await isCurrent(standing, node)) && (await isLoaded(node))),
    disputed: (transactions) => rpc.disputed(transactions, unshown),
    silence: () => rpc.silence(),
    voteOnFork: (block) => rpc.voteOnFork(block),
    locate: (txHash) => rpc.use((node) => locateTransaction(node, rules, txHash), LOCATED),
    // An isolated node may lack the newest blocks.
    used: (addresses) =>
      rpc.use(async (node) => {
        await standing.requireChain(node, 'it cannot show which addresses were never used')
        return node.unspentScripts(addresses.map(({ matchKey }) => matchKey))
      }),
    unspent: (scripts, blocks) =>
      unspentOfAll(rpc, { scope, nodes: options.rpcUrls.length }, (node) => node.unspentIn(scripts, blocks)),
    probe: createProbe(rpc, chain.blockTimeMs),
    funds: createUtxoFunds(rpc, { asset, isLocal: options.genesis === 'any' }),
    close: () => rpc.close(),
  }
}

/** Those that a node shows; all of them while one that fails now, or that `isEvidence` does not know to have a complete mempool, is waited for. */
async function heldUnconfirmed(
  rpc: CoreRpc,
  txids: readonly string[],
  isEvidence: (node: CoreNode) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  const require = async (node: CoreNode) => {
    if (!(await isEvidence(node))) throw new NodeLag('its mempool does not show yet what is missing')
  }
  const held = rpc.each((node) => node.heldUnconfirmed(txids), 'mempool')
  const answers = await ignoreUnclear(Promise.all([held, rpc.each(require, 'complete mempool')]))
  return new Set(answers?.[0].flat() ?? txids)
}

async function unspentOfAll(
  rpc: CoreRpc,
  { scope, nodes }: { readonly scope: ExtractScope; readonly nodes: number },
  read: (node: CoreNode) => Promise<readonly UnspentOutput[]>,
): Promise<readonly ScannedBlock[]> {
  const outputs = shownByTwo(await rpc.each(read, 'unspent outputs'), Math.min(2, nodes))
  return rpc.use((node) => unspentBlocks(node, scope, outputs))
}

/**
 * Outputs that two nodes show alike, where there are two: unlike those of a block, no hash proves them, and a payment's second opinion is about its
 * block. Throws `NodeUnreliable` when only one of several nodes answered: the search is repeated.
 */
function shownByTwo(answers: readonly (readonly UnspentOutput[])[], least: number): readonly UnspentOutput[] {
  if (answers.length < least) throw new NodeUnreliable('only one node searched the unspent outputs')
  const idOf = ({ txid, vout, script, amountBase, height }: UnspentOutput) =>
    [txid, vout, script, amountBase, height].join(':')
  // A node that lists an output twice is one node, and not every release reports a coinbase.
  const shown = answers.map((outputs) => new Map(outputs.map((output) => [idOf(output), output])))
  return [...new Map(shown.flatMap((outputs) => [...outputs]))].flatMap(([id, output]) => {
    const same = shown.flatMap((outputs) => outputs.get(id) ?? [])
    return same.length < least ? [] : { ...output, isCoinbase: same.some((one) => one.isCoinbase) }
  })
}

/** Unspent outputs by their blocks, whose headers also pruned nodes have. */
async function unspentBlocks(
  node: CoreNode,
  scope: ExtractScope,
  outputs: readonly UnspentOutput[],
): Promise<readonly ScannedBlock[]> {
  const heights = [...new Set(outputs.map(({ height }) => height))].sort((one, other) => one - other)
  return mapConcurrently(heights, PREFETCH, async (height) => {
    const hash = await hashAt(node, height)
    const inBlock = outputs.filter((output) => output.height === height)
    return { ...(await node.header({ height, hash })), transfers: unspentTransfers(scope, inBlock) }
  })
}

/** Whether a transaction that is not in the node's mempool is missing. */
async function isCurrent(standing: StandingWatch, node: CoreNode): Promise<boolean> {
  const proven = standing.unproven(node, 'its mempool shows nothing').then((reason) => reason === null)
  return (await nullWhere(proven, (error) => error instanceof NodeBehind)) ?? false
}

/**
 * Ids of those transactions of one block that a node does not have. A block's hash commits to its transactions: the scan read them from the
 * block with this hash.
 */
async function unshown(node: CoreNode, transactions: readonly SeenTransaction[]): Promise<readonly string[]> {
  const [first] = transactions
  const hash = first === undefined ? null : await hashAt(node, first.height)
  return transactions.filter(({ blockHash }) => blockHash !== hash).map(({ txHash }) => txHash)
}

async function scanBlocks(
  node: CoreNode,
  { low, high }: { readonly low: number; readonly high: number },
  question: BlockQuestion,
  rules: OutputChainRules,
): Promise<readonly ScannedBlock[]> {
  const heights = Array.from({ length: high - low + 1 }, (_, offset) => low + offset)
  const blocks = await mapConcurrently(heights, PREFETCH, async (height) => {
    const hash = await inBlock({ height, hash: null }, 'getblockhash', () => hashAt(node, height))
    return inBlock({ height, hash }, 'getblock', () => scanBlock(node, { height, hash }, question, rules))
  })
  checkLinks(blocks)
  return blocks
}

async function scanBlock(
  node: CoreNode,
  at: { readonly height: number; readonly hash: string },
  { scope, watches, outpoints }: BlockQuestion,
  rules: OutputChainRules,
): Promise<ScannedBlock> {
  const { transactions, ...block } = parseBlock(await node.block(at.hash), at, rules)
  return {
    ...block,
    transfers: blockTransfers(scope, transactions, watches),
    spent: spendersAmong(transactions, outpoints),
  }
}
