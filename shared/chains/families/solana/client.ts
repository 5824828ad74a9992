import { base58 } from '@scure/base'
import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { ChainDefinition } from '../../definitions/chain.ts'
import { createJsonRpc, type RpcClient, type RpcNode } from '../../nodes/json-rpc.ts'
import { required } from '../../nodes/needs.ts'
import { createPatientScan, type ScanWays } from '../../nodes/patient-scan.ts'
import { LOCATED } from '../../nodes/pool-node.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { findDisputed } from './disputed.ts'
import { type ExtractOptions, type KnownMint, TOKEN_PROGRAM, transfersOf } from './extract.ts'
import { createIdentityTest } from './identity.ts'
import type { BlockPosition } from './newest-block.ts'
import { type BlockReader, createBlockReader, type ReadBlock } from './read-blocks.ts'
import { classify, explain } from './rpc-failure.ts'
import { createSolanaFunds } from './solana-funds.ts'
import { transferTransaction } from './transfer-message.ts'
import { accountSchema, latestHashSchema, statusesSchema, type Transaction } from './wire.ts'

/** Layout of a mint account of the SPL Token program: `decimals` and `is_initialized` (spl-token, `state.rs`). */
const MINT_LENGTH = 82
const MINT_DECIMALS_AT = 44
const MINT_INITIALIZED_AT = 45

/** A block hash is accepted for about a minute (150 blocks); wallets need most of it. */
const BLOCKHASH_LIFE_MS = 5_000

/** An accepted token of the network in the client's mode; `contract` is its mint. */
export interface SolanaToken {
  readonly asset: AssetId
  readonly contract: string
  readonly decimals: number
}

/** Settings of a client. `rpcUrls` is not empty, the preferred first. */
export interface SolanaClientOptions {
  readonly chain: ChainDefinition
  readonly mode: Mode
  readonly rpcUrls: readonly string[]
  /** Hash of the first block instead of that of mainnet-beta or devnet; `any` accepts every local chain, Surfpool among them. */
  readonly genesis?: string | null
  /** The native coin as an asset. */
  readonly nativeAsset: AssetId
  readonly tokens: readonly SolanaToken[]
  readonly metrics: Metrics
}

/** A chain client that holds connections. */
export interface SolanaClient extends ChainClient {
  close(): Promise<void>
}

/**
 * Reads Solana: gains of watched owners in coins and in known mints, from the balances before and after each
 * transaction of confirmed blocks. A height is a slot, and slots may be empty. Opens nothing until the first call.
 */
export function createSolanaClient(options: SolanaClientOptions): SolanaClient {
  const { chain, mode, rpcUrls, metrics } = options
  const identity = createIdentityTest(mode, options.genesis ?? null)
  const current = () => {
    if (identity.current === null) throw new NodeUnreliable('the node was not identified yet')
    return identity.current
  }
  const readerOf = (node: Pick<RpcClient, 'call'>) => createBlockReader(node, current)
  const pool = createJsonRpc({
    urls: rpcUrls,
    identify: identity.identify,
    classify,
    explain,
    headHeight: (call) => readerOf({ call }).slot('confirmed'),
    hashAt: (call, height) => readerOf({ call }).hashAt(height),
    metrics,
    labels: { network: chain.id, mode },
  })
  const extract = extractOptions(options)
  const readFinal = (node: Pick<RpcClient, 'call'>): Promise<number | null> => readerOf(node).slot('finalized')
  const readHead = createHeadReader()
  const patientScan = createPatientScan()
  const genesisHash = () => pool.use(async () => current().genesisHash)

  const disputed: NonNullable<ChainClient['disputed']> = (transactions) =>
    pool.disputed(transactions, (node, batch) =>
      findDisputed({ call: node.call, extract, hashAt: current().simulated ? null : readerOf(node).hashAt }, batch),
    )

  return {
    hasGaps: true,
    verify: () => pool.use((node) => verifyMints(node, options)),
    genesisHash,
    head: () =>
      pool.use(async (node) => {
        await pool.final.update(node, readFinal)
        const head = await readHead(node, readerOf(node))
        pool.noteHead(node, head.height)
        // A confirmed block is final since Alpenglow, and the back ends of one URL are slots apart: finality above this head is no contradiction.
        const final = pool.final.agreed()
        return { ...head, finalizedHeight: final && Math.min(final, head.height) }
      }),
    async blockAt(height) {
      if (height > 0) return pool.use((node) => readerOf(node).at(height), { height })
      // Few nodes still have the first block; its hash identifies the chain of every node.
      const hash = await genesisHash()
      return { height: 0, hash, parentHash: hash, time: 0 }
    },
    scan(from, to, watches) {
      const take = (transactions: readonly Transaction[]) => transfersOf(extract, transactions, watches)
      return patientScan(scanWays(pool, readerOf, take), from, to)
    },
    locate: (txHash) =>
      pool.use(async (node) => {
        const question = [[txHash], { searchTransactionHistory: true }]
        const [status] = (await node.call('getSignatureStatuses', question, statusesSchema)).value
        if (status === undefined || status === null) return null
        // A processed block may still be dropped from the chain; blocks are read from `confirmed` on.
        if (status.confirmationStatus === 'processed') return 'unconfirmed'
        const { hash } = required(await readerOf(node).at(status.slot), `block in slot ${status.slot} of a transaction`)
        return { height: status.slot, blockHash: hash, succeeded: status.err === null }
      }, LOCATED),
    funds: createSolanaFunds(pool, options),
    prepareTransfer: createTransferMaker(pool, options),
    // Without a second node nothing can be checked.
    ...(rpcUrls.length < 2 ? {} : { disputed, voteOnFork: pool.voteOnFork, silence: pool.silence }),
    close: () => pool.close(),
  }
}

/** Payers' transactions, each with a block hash of the last seconds: however many are made, the node is asked once in that time. */
function createTransferMaker(
  pool: RpcPool<RpcNode>,
  { tokens }: Pick<SolanaClientOptions, 'tokens'>,
): NonNullable<ChainClient['prepareTransfer']> {
  let recent: { readonly at: number; readonly hash: Promise<string> } | null = null
  const read = () =>
    pool.use(async (node) => {
      const answer = await node.call('getLatestBlockhash', [{ commitment: 'confirmed' }], latestHashSchema)
      return answer.value.blockhash
    })
  return async ({ from, to, contract, amountBase, reference }) => {
    const token = tokens.find((one) => one.contract === contract)
    if (contract !== null && token === undefined) throw new RangeError('an unknown mint')
    if (recent === null || performance.now() - recent.at > BLOCKHASH_LIFE_MS) {
      const hash = read()
      recent = { at: performance.now(), hash }
      hash.catch(() => {
        recent = null
      })
    }
    const made = transferTransaction({
      ...{ from, to, amountBase, blockhash: await recent.hash },
      mint: token === undefined ? null : { address: token.contract, decimals: token.decimals },
      reference: reference === null ? null : base58.encode(Buffer.from(reference, 'hex')),
    })
    return Buffer.from(made).toString('base64')
  }
}

/** Blocks as usual, and one by its transactions. */
function scanWays(
  pool: RpcPool<RpcNode>,
  readerOf: (node: RpcNode) => BlockReader,
  take: (transactions: readonly Transaction[]) => ScannedBlock['transfers'],
): ScanWays {
  const scanned = ({ ref, content }: ReadBlock<ScannedBlock['transfers']>): ScannedBlock => ({
    ...ref,
    transfers: content,
  })
  return {
    scan: (from, to) =>
      pool.use(
        async (node) => {
          const found = await readerOf(node).read(from, to, take)
          pool.noteBlocks(node, from, Math.max(to, found.at(-1)?.ref.height ?? to))
          return found.map(scanned)
        },
        { height: to },
      ),
    scanAlone: (height, from) =>
      pool.use(
        async (node) => {
          const found = await readerOf(node).readAlone(height, from, take)
          pool.noteBlocks(node, from, height)
          return scanned(found)
        },
        { height },
      ),
  }
}

/** Keeps the newest block of the node in use: a block store that is a moment behind the votes is not asked for it again. */
function createHeadReader() {
  let last: { readonly node: RpcNode; readonly block: BlockPosition } | null = null
  return async (node: RpcNode, blocks: BlockReader): Promise<BlockPosition> => {
    const block = await blocks.newest(last?.node === node ? last.block : null)
    last = { node, block }
    return block
  }
}

function extractOptions({ chain, mode, nativeAsset, tokens }: SolanaClientOptions): ExtractOptions {
  const mints = new Map<string, KnownMint>([
    ...chain.siblings.map(({ contract }) => [contract, { asset: null, decimals: null }] as const),
    ...tokens.map(({ contract, asset, decimals }) => [contract, { asset, decimals }] as const),
  ])
  return { keyPrefix: `${mode}:${chain.id}`, nativeAsset, mints }
}

/** A mint of another program, or with other decimals than the registry's, would make every amount wrong. */
async function verifyMints(
  rpc: Pick<RpcClient, 'call'>,
  { tokens, mode }: Pick<SolanaClientOptions, 'tokens' | 'mode'>,
): Promise<readonly AssetId[]> {
  const missing: AssetId[] = []
  for (const { asset, contract, decimals } of tokens) {
    const options = { encoding: 'base64', commitment: 'confirmed' }
    const { value } = await rpc.call('getAccountInfo', [contract, options], accountSchema)
    if (value === null && mode === 'test') {
      missing.push(asset)
      continue
    }
    const data = Buffer.from(value?.data[0] ?? '', 'base64')
    if (value?.owner !== TOKEN_PROGRAM || data.length !== MINT_LENGTH || data[MINT_INITIALIZED_AT] !== 1) {
      throw new NodeMismatch(`${asset} at ${contract}: no mint of the SPL Token program`)
    }
    if (data[MINT_DECIMALS_AT] !== decimals) {
      throw new NodeMismatch(
        `${asset} at ${contract} has ${data[MINT_DECIMALS_AT]} decimals; the registry says ${decimals}`,
      )
    }
  }
  return missing
}
