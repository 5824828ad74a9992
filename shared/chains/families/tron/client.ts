import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { type ChainClient, NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import type { ChainDefinition } from '../../definitions/chain.ts'
import { checkLinks } from '../../nodes/check-links.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { createPatientScan } from '../../nodes/patient-scan.ts'
import { LOCATED } from '../../nodes/pool-node.ts'
import { onlyReceiver, type SeenTransfer, showsTransfer } from '../../nodes/same-transfer.ts'
import { parseAccount } from './address.ts'
import { createTronApi, type TronNode } from './api.ts'
import { absence, listBlock } from './block-parts.ts'
import { checkHeader, type SuccessfulTransaction, successfulTransactions } from './check-block.ts'
import { type ExtractContext, extractTransfers, type TokenTable } from './extract.ts'
import { createHeadReader, refOf } from './head.ts'
import { createInternalRecord, type InternalRecord } from './internal-record.ts'
import { locateTransaction } from './locate-transaction.ts'
import { createPayerTransfers } from './payer-transfers.ts'
import { readAlone } from './read-alone.ts'
import { createTronFunds } from './tron-funds.ts'
import { usedAccounts } from './used-accounts.ts'
import { type TronToken, verifyTokens } from './verify-tokens.ts'
import { type Block, blocksSchema, headerSchema, infosSchema, maybeBlockSchema, maybeHeaderSchema } from './wire.ts'

/** Ids of block 0 (java-tron, main_net_config.conf; nileex.io): the main network, and Nile. */
const GENESIS: Readonly<Record<Mode, string>> = {
  live: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  test: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
}

/** Requests per second to one public node: TronGrid allows a key 15 (developers.tron.network, "Rate limits", read 2026-11-30), and 1 to 3 without one. */
const PER_SECOND = 12

/** Settings of a client. */
export interface TronClientOptions {
  readonly chain: ChainDefinition
  readonly mode: Mode
  /** Each URL serves both `/wallet` and `/walletsolidity`, as TronGrid does; the preferred first. */
  readonly rpcUrls: readonly string[]
  /** Id of block 0 instead of that of the main network or Nile; `any` accepts every local chain. */
  readonly genesis: string | null
  readonly nativeAsset: AssetId
  readonly tokens: readonly TronToken[]
  readonly metrics: Metrics
}

/** A chain client that holds connections. */
export interface TronClient extends ChainClient {
  close(): Promise<void>
}

/**
 * Reads TRON by block and transaction infos, matched in this process: on a quiet public chain about three requests for each
 * block, of which there are 28,800 a day. Transfers sent by contracts are visible where the node records internal transactions
 * (`vm.saveInternalTx`), as TronGrid does; the metric `scanner_internal_transfers_seen` shows it. Opens nothing until the first
 * call. Throws `TypeError` when a contract is not a TRON address.
 */
export function createTronClient(options: TronClientOptions): TronClient {
  const { chain, mode, nativeAsset, metrics } = options
  const tokens: TokenTable = new Map<string, AssetId | null>([
    ...chain.siblings.map(({ contract }) => [parseAccount(contract), null] as const),
    ...options.tokens.map(({ contract, asset }) => [parseAccount(contract), asset] as const),
  ])
  const labels = { network: chain.id, mode }
  const genesis = options.genesis ?? GENESIS[mode]
  // A chain other than the public ones makes blocks at any time, on private nodes.
  const isPublic = options.genesis === null
  const perSecond = isPublic ? PER_SECOND : null
  const pool = createTronApi({ urls: options.rpcUrls, genesis, perSecond, metrics, labels })
  const { head, newestOf } = createHeadReader(pool, isPublic ? chain.blockTimeMs : 0)
  const internals = createInternalRecord(metrics, labels)
  const scope = { keyPrefix: `${mode}:${chain.id}`, nativeAsset, tokens }
  const patientScan = createPatientScan()
  const unshown = createTransferCheck(scope, internals)
  const disputed: TronClient['disputed'] = (transactions) => pool.disputed(transactions, unshown)

  return {
    // A node is identified before it is used.
    verify: () => pool.use((node) => verifyTokens(node, options)),
    genesisHash: () =>
      pool.use(async (node) => (await node.call('wallet/getblockbynum', { num: 0 }, headerSchema)).blockID),
    head,
    blockAt: (height) =>
      pool.use(async (node) => {
        const header = await node.call('wallet/getblockbynum', { num: height }, maybeHeaderSchema)
        if (header === null) return null
        checkHeader(header, height)
        return refOf(header)
      }),
    scan(first, last, watches) {
      const scan = (from: number, to: number) =>
        pool.use(
          async (node) => {
            internals.check(node)
            const blocks = await readBlocks(node, from, to, newestOf(node))
            for (const { successful } of blocks) internals.note(node, successful)
            pool.noteBlocks(node, from, to)
            return mapConcurrently(blocks, 1, async ({ header, successful }) => {
              const ref = refOf(header)
              const extract = () =>
                successful.flatMap((transaction) => extractTransfers(transaction, { ...scope, watches }))
              return { ...ref, transfers: await inBlock(ref, 'wallet/gettransactioninfobyblocknum', extract) }
            })
          },
          { height: to },
        )
      const scanAlone = (height: number) =>
        pool.use(
          async (node) => {
            internals.check(node)
            const { block, recorded } = await readAlone(node, height, { ...scope, watches })
            // A block without recorded calls shows nothing: a block that fails is read many times.
            if (recorded !== null) internals.note(node, [recorded])
            pool.noteBlocks(node, height, height)
            metrics.count('scanner_blocks_read_alone_total', labels)
            return block
          },
          { height },
        )
      return patientScan({ scan, scanAlone }, first, last)
    },
    ...(options.rpcUrls.length < 2 ? {} : { disputed, voteOnFork: pool.voteOnFork, silence: pool.silence }),
    locate: (txHash) => pool.use((node) => locateTransaction(node, txHash), LOCATED),
    used: (addresses) => pool.use((node) => usedAccounts(node, options.tokens, addresses)),
    funds: createTronFunds(pool, options),
    ...createPayerTransfers(pool),
    close: () => pool.close(),
  }
}

/** Transactions read at the same time. */
const CONCURRENCY = 4

/**
 * Checks transactions of one block with one node: returns the ids of those that it does not show, successful, in it,
 * or whose transfer there differs. Two requests, the block read as the scan reads it; where
 * the node does not return it so, the transactions are read alone. Internal
 * transfers are compared where the node is known to record them; elsewhere their transaction is enough. Throws
 * `NodeUnreliable` when the node contradicts itself.
 */
function createTransferCheck(
  scope: Omit<ExtractContext, 'watches'>,
  internals: InternalRecord,
): (node: TronNode, seen: readonly SeenTransaction[]) => Promise<readonly string[]> {
  const isShown = (node: TronNode, transaction: SuccessfulTransaction, transfer: SeenTransfer): boolean => {
    const isInside = transfer.key.startsWith(`${scope.keyPrefix}:${transaction.id}:i:`)
    if (isInside && !internals.isSeeing(node)) return true
    return showsTransfer(extractTransfers(transaction, { ...scope, watches: onlyReceiver(transfer) }), transfer)
  }

  return async (node, seen) => {
    const [first] = seen
    if (first === undefined) return []
    const wantedHashes = new Set(seen.map(({ blockHash }) => blockHash))
    const wantedIds = new Set(seen.map(({ txHash }) => txHash))
    const shown = await transactionsAt(node, first.height, wantedHashes, wantedIds)
    internals.note(node, [...shown.transactions.values()])
    const isSame = ({ txHash, blockHash, transfer }: SeenTransaction): boolean => {
      const transaction = blockHash === shown.hash ? shown.transactions.get(txHash) : undefined
      return transaction !== undefined && (transfer === undefined || isShown(node, transaction, transfer))
    }
    return seen.filter((one) => !isSame(one)).map(({ txHash }) => txHash)
  }
}

interface BlockTransactions {
  readonly hash: string | null
  readonly transactions: ReadonlyMap<string, SuccessfulTransaction>
}

const NOTHING: BlockTransactions = { hash: null, transactions: new Map() }

/** Successful transactions of a node's block, when it is one of these: at least those of `ids`. */
async function transactionsAt(
  node: TronNode,
  height: number,
  hashes: ReadonlySet<string>,
  ids: ReadonlySet<string>,
): Promise<BlockTransactions> {
  try {
    const block = await node.call('wallet/getblockbynum', { num: height }, maybeBlockSchema)
    if (block === null || !hashes.has(block.blockID)) return NOTHING
    const [read] = await readBlocks(node, height, height, block)
    return { hash: block.blockID, transactions: new Map(read?.successful.map((one) => [one.id, one])) }
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return listedTransactionsAt(node, height, hashes, ids)
  }
}

/** The same from a block that this node does not return as usual, without the transactions that are not needed. */
async function listedTransactionsAt(
  node: TronNode,
  height: number,
  hashes: ReadonlySet<string>,
  ids: ReadonlySet<string>,
): Promise<BlockTransactions> {
  const listed = await listBlock(node, height)
  if (!hashes.has(listed.header.blockID)) return NOTHING
  const present = listed.ids.filter((id) => ids.has(id))
  const read = await mapConcurrently(present, CONCURRENCY, listed.read)
  const successful = read.filter((one) => one !== null)
  return { hash: listed.header.blockID, transactions: new Map(successful.map((one) => [one.id, one])) }
}

/** Blocks in one response; each may be half a megabyte. Nodes return up to 100 (java-tron, `BLOCK_LIMIT_NUM`). */
const BLOCKS_PER_CALL = 5
const INFOS = 'wallet/gettransactioninfobyblocknum'

/** A block whose transactions and infos agree. */
interface ReadBlock {
  readonly header: Pick<Block, 'blockID' | 'block_header'>
  readonly successful: readonly SuccessfulTransaction[]
}

/**
 * Blocks `from`…`to` of one node, linked: one request for each with its infos, and one for every five blocks. `known` is a
 * block that this node returned already. Throws `NodeUnreliable` rather than omitting anything.
 */
export async function readBlocks(
  node: TronNode,
  from: number,
  to: number,
  known: Block | null,
): Promise<readonly ReadBlock[]> {
  const blocks: ReadBlock[] = []
  // Block 0 distributes the first coins in transactions of a special form, and has no infos.
  if (from === 0) {
    const header = await node.call('wallet/getblockbynum', { num: 0 }, headerSchema)
    checkHeader(header, 0)
    blocks.push({ header, successful: [] })
  }
  for (let start = Math.max(1, from); start <= to; start += BLOCKS_PER_CALL) {
    const end = Math.min(to, start + BLOCKS_PER_CALL - 1)
    const read = () => bareBlocks(node, start, end, known)
    const bare =
      start === end ? await inBlock({ height: start, hash: null }, 'wallet/getblockbynum', read) : await read()
    blocks.push(
      ...(await mapConcurrently(bare, BLOCKS_PER_CALL, (block) =>
        inBlock({ height: block.block_header.raw_data.number, hash: block.blockID }, INFOS, () =>
          withInfos(node, block),
        ),
      )),
    )
  }
  checkLinks(blocks.map(({ header }) => refOf(header)))
  return blocks
}

/** Blocks first: infos of a block that the node has returned must be there. */
async function bareBlocks(node: TronNode, from: number, to: number, known: Block | null): Promise<readonly Block[]> {
  const blocks = await requestBlocks(node, from, to, known)
  if (blocks.length !== to - from + 1) throw new NodeUnreliable(`the node lacks one of the blocks ${from} to ${to}`)
  for (const [index, block] of blocks.entries()) checkHeader(block, from + index)
  return blocks
}

async function requestBlocks(node: TronNode, from: number, to: number, known: Block | null): Promise<readonly Block[]> {
  if (from !== to) return node.call('wallet/getblockbylimitnext', { startNum: from, endNum: to + 1 }, blocksSchema)
  if (known?.block_header.raw_data.number === from) return [known]
  const block = await node.call('wallet/getblockbynum', { num: from }, maybeBlockSchema)
  if (block === null) throw await absence(node, from)
  return [block]
}

async function withInfos(node: TronNode, block: Block): Promise<ReadBlock> {
  const { number } = block.block_header.raw_data
  const infos = await node.call(INFOS, { num: number }, infosSchema)
  return { header: block, successful: successfulTransactions(block, infos) }
}
