import type { AssetId } from '#shared/domain/enumerations.ts'
import { type ChainClient, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { required } from '../../nodes/needs.ts'
import { nullWhere } from '../../nodes/null-where.ts'
import { createPatientScan } from '../../nodes/patient-scan.ts'
import { LOCATED } from '../../nodes/pool-node.ts'
import { type FailureKind, isDenied, RpcFailure } from '../../nodes/rpc-failure.ts'
import { createAccountReader } from './accounts.ts'
import { createBalanceLedger } from './balance-ledger.ts'
import { blockRef, createBlockScan } from './block-scan.ts'
import { createEvmFunds } from './evm-funds.ts'
import { createLoneReader } from './lone-reader.ts'
import type { EvmClientOptions } from './options.ts'
import { createProbe } from './probe.ts'
import { readReceipt } from './receipts.ts'
import { createRpc, readHeader } from './rpc.ts'
import { createTransferCheck } from './transfer-check.ts'
import { createUseReader } from './used-accounts.ts'
import { bytesSchema } from './wire.ts'

/** Selector of `decimals()`, EIP-20. */
const DECIMALS_SELECTOR = '0x313ce567'

/** A chain client that holds connections. */
export interface EvmClient extends ChainClient {
  readonly disputed: NonNullable<ChainClient['disputed']>
  close(): Promise<void>
}

/**
 * Reads one EVM network from any of its nodes: native transfers, and EIP-20 transfers, matched
 * in this process. Each scan takes all its responses from one node. Opens nothing until the first call.
 */
export function createEvmClient(options: EvmClientOptions): EvmClient {
  const labels = { network: options.chain.id, mode: options.mode }
  const pool = createRpc({ urls: options.rpcUrls, chainId: options.chainId, metrics: options.metrics, labels })
  const scanBlocks = createBlockScan(options)
  const readAlone = createLoneReader(options)
  const patientScan = createPatientScan()
  const unshown = createTransferCheck(`${options.mode}:${options.chain.id}`, options.nativeAsset)
  const usedAccounts = createUseReader(options)
  let known: { readonly height: number; readonly hash: string } | null = null

  return {
    verify: () => pool.use((node) => verifyTokens(node, options)),
    genesisHash: () => pool.use(async (node) => required(await readHeader(node, 0), 'genesis block').hash),
    head: () =>
      pool.use(async (node) => {
        const block = blockRef(required(await readHeader(node, 'latest'), 'latest block'))
        const { height: number, hash, time } = block
        pool.noteHead(node, number)
        // Finality advances with blocks: on a quiet chain one request is enough.
        if (known?.hash !== hash) {
          await pool.final.update(node, readFinalHeight)
          known = { height: number, hash }
        }
        const final = pool.final.agreed()
        // Another block may have arrived between the two requests; the final height never exceeds the known head.
        return { ...known, time, block, finalizedHeight: final && Math.min(final, number) }
      }),
    blockAt: (height) =>
      pool.use(async (node) => {
        const header = await readHeader(node, height)
        return header === null ? null : blockRef(header)
      }),
    scan(first, last, watches, _outpoints, accounts) {
      const from = <T>(work: (node: RpcNode) => Promise<T>, low: number, high: number) =>
        pool.use(
          async (node) => {
            const blocks = await work(node)
            pool.noteBlocks(node, low, high)
            return blocks
          },
          { height: high },
        )
      const ways = {
        scan: (low: number, high: number) =>
          from((node) => scanBlocks(node, { from: low, to: high, watches, accounts }), low, high),
        scanAlone: (height: number) => from((node) => readAlone(node, { height, watches, accounts }), height, height),
      }
      return patientScan(ways, first, last)
    },
    disputed: (transactions) => pool.disputed(transactions, unshown),
    silence: () => pool.silence(),
    voteOnFork: (block) => pool.voteOnFork(block),
    // Where the network logs its coin, nothing reaches an account unseen.
    ...(!options.logsCoins && { balances: createBalanceLedger(options, pool) }),
    accounts: createAccountReader(options, pool),
    probe: createProbe(options, pool),
    locate: (txHash) =>
      pool.use(async (node) => {
        const receipt = await readReceipt(node, txHash)
        if (receipt === null) return null
        const { blockNumber, blockHash, status } = receipt
        if (blockNumber === undefined) throw new NodeUnreliable('the receipt of a transaction names no block')
        return { height: blockNumber, blockHash, succeeded: status === '0x1' }
      }, LOCATED),
    used: (addresses) => pool.use((node) => usedAccounts(node, addresses)),
    funds: createEvmFunds(pool, options),
    close: () => pool.close(),
  }
}

/** The tokens that a node of test mode has no code of. */
async function verifyTokens(
  node: RpcNode,
  { tokens, mode }: Pick<EvmClientOptions, 'tokens' | 'mode'>,
): Promise<readonly AssetId[]> {
  const missing: AssetId[] = []
  for (const { asset, contract, decimals } of tokens) {
    const answer = await readDecimals(node, contract)
    if (answer.length === 66 && BigInt(answer) === BigInt(decimals)) continue
    // An empty answer and a revert say what is wrong only beside the code that gave it.
    const hasCode = answer.length === 66 || !(await hasNoCode(node, contract))
    if (!hasCode && mode === 'test') {
      missing.push(asset)
      continue
    }
    const found = answer.length === 66 ? BigInt(answer).toString() : hasCode ? 'no number' : 'no contract'
    throw new NodeMismatch(`decimals() of ${asset} at ${contract}: ${found}; the registry says ${decimals}`)
  }
  return missing
}

/** What the contract returns; nothing where the call reverts. A failure of the node is thrown: it proves nothing about the contract. */
async function readDecimals(node: RpcNode, contract: string): Promise<string> {
  const question = [{ to: contract, data: DECIMALS_SELECTOR }, 'latest']
  return (await nullWhere(node.call('eth_call', question, bytesSchema), isDenied)) ?? '0x'
}

/** What has code and answers nothing is another contract than ours, which is a fault of the settings. */
const hasNoCode = async (node: RpcNode, contract: string): Promise<boolean> =>
  (await node.call('eth_getCode', [contract, 'latest'], bytesSchema)) === '0x'

/** Failures that a repetition might not change. */
const UNREPORTED: ReadonlySet<FailureKind> = new Set<FailureKind>(['refused', 'unclear', 'pruned', 'split'])

/** Null while the node gives none; it is asked again at the next block. */
async function readFinalHeight(node: RpcNode): Promise<number | null> {
  // Only payments that need finality wait for it: everything else goes on without.
  const isNone = (error: unknown) => error instanceof RpcFailure && UNREPORTED.has(error.kind)
  return (await nullWhere(readHeader(node, 'finalized'), isNone))?.number ?? null
}
