import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import {
  type BlockRef,
  type ChainClient,
  NodeMismatch,
  NodeUnreliable,
  type ScannedBlock,
} from '#shared/usecases/ports/scanning.ts'
import type { ChainDefinition } from '../../chain.ts'
import { formatAccount, parseAccount } from './address.ts'
import { checkHeader, successfulTransactions } from './check-block.ts'
import { type ExtractContext, extractTransfers, type TokenTable } from './extract.ts'
import { createTronHttp, type TronHttp } from './http.ts'
import {
  type Block,
  constantCallSchema,
  type Header,
  headerSchema,
  infosSchema,
  maybeBlockSchema,
  maybeHeaderSchema,
} from './wire.ts'

/**
 * Ids of block 0 (java-tron, main_net_config.conf; nileex.io): the main network, and Nile. Its last four bytes are the
 * chain id that TRON's Ethereum-compatible API gives.
 */
const GENESIS: Readonly<Record<Mode, string>> = {
  live: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  test: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
}
const CHAIN_ID_DIGITS = 8
/** Any account may ask a contract for what is public. */
const NOBODY = `41${'0'.repeat(40)}`
/** Blocks fetched at the same time, two calls each. */
const PREFETCH = 4

/** An accepted token in the client's mode; the contract in its `T…` spelling. */
export interface TronToken {
  readonly asset: AssetId
  readonly contract: string
  readonly decimals: number
}

/** Everything a client needs. */
export interface TronClientOptions {
  readonly chain: ChainDefinition
  readonly mode: Mode
  /** Each URL serves both `/wallet` and `/walletsolidity`, as TronGrid does. */
  readonly rpcUrls: readonly string[]
  /** Of another test chain than Nile: the last four bytes of its block 0. Means nothing in live mode. */
  readonly chainId: number | null
  readonly nativeAsset: AssetId
  readonly tokens: readonly TronToken[]
  readonly metrics: Metrics
}

/** A chain client that holds connections. */
export interface TronClient extends ChainClient {
  close(): Promise<void>
}

/**
 * Reads TRON by block and transaction infos, matched in this process. Coins that contracts send are seen where the
 * provider records internal transactions (`vm.saveInternalTx`), as TronGrid does. Opens nothing until the first call.
 * Throws `TypeError` when a contract is not a TRON address.
 */
export function createTronClient(options: TronClientOptions): TronClient {
  const { chain, mode, nativeAsset } = options
  const tokens: TokenTable = new Map<string, AssetId | null>([
    ...chain.siblings.map(({ contract }) => [parseAccount(contract), null] as const),
    ...options.tokens.map(({ contract, asset }) => [parseAccount(contract), asset] as const),
  ])
  const http = createTronHttp({
    urls: options.rpcUrls,
    isOurs: genesisTest(options),
    metrics: options.metrics,
    labels: { network: chain.id, mode },
  })
  const { callOther } = http
  let known: Awaited<ReturnType<ChainClient['head']>> | null = null

  return {
    verify: () => verifyTokens(http, options.tokens),
    async genesisHash() {
      return (await http.call('wallet/getblockbynum', { num: 0 }, headerSchema)).blockID
    },
    async head() {
      const { height, hash } = refOf(await http.call('wallet/getnowblock', {}, headerSchema))
      // The solid head moves with blocks: while none comes, one question is enough.
      if (known?.hash !== hash) known = { height, hash, finalizedHeight: await readSolid(http, height) }
      return known
    },
    async blockAt(height) {
      const header = await http.call('wallet/getblockbynum', { num: height }, maybeHeaderSchema)
      if (header === null) return null
      checkHeader(header, height)
      return refOf(header)
    },
    scan: (from, to, watches) =>
      scanBlocks(http, { keyPrefix: `${mode}:${chain.id}`, nativeAsset, tokens, watches }, from, to),
    ...(callOther === null ? {} : { doubted: (transactions) => findDoubted(callOther, transactions) }),
    close: () => http.close(),
  }
}

/** Ids that a second node does not show as successful in the same block. One question per block. */
async function findDoubted(
  ask: TronHttp['call'],
  transactions: Parameters<NonNullable<ChainClient['doubted']>>[0],
): Promise<ReadonlySet<string>> {
  const doubted = new Set(transactions.map(({ txHash }) => txHash))
  for (const height of new Set(transactions.map((entry) => entry.height))) {
    const block = await ask('wallet/getblockbynum', { num: height }, maybeBlockSchema)
    const shown = new Set(
      block?.transactions.flatMap(({ txID, ret }) => (ret[0]?.contractRet === 'SUCCESS' ? txID : [])),
    )
    for (const { txHash, blockHash } of transactions) {
      if (block?.blockID === blockHash && shown.has(txHash)) doubted.delete(txHash)
    }
  }
  return doubted
}

async function scanBlocks(
  http: TronHttp,
  context: ExtractContext,
  from: number,
  to: number,
): Promise<readonly ScannedBlock[]> {
  const blocks: ScannedBlock[] = []
  for (let start = from; start <= to; start += PREFETCH) {
    const count = Math.min(PREFETCH, to - start + 1)
    blocks.push(...(await Promise.all(Array.from({ length: count }, (_, i) => scanBlock(http, context, start + i)))))
  }
  for (const [index, block] of blocks.entries()) {
    const parent = blocks[index - 1]
    if (parent !== undefined && block.parentHash !== parent.hash) {
      throw new NodeUnreliable(`the node's blocks ${parent.height} and ${block.height} are not linked`)
    }
  }
  return blocks
}

async function scanBlock(http: TronHttp, context: ExtractContext, height: number): Promise<ScannedBlock> {
  // Block 0 hands out the first coins in transactions of a form of their own, and has no infos.
  if (height === 0) {
    const genesis = await http.call('wallet/getblockbynum', { num: 0 }, headerSchema)
    checkHeader(genesis, 0)
    return { ...refOf(genesis), transfers: [] }
  }
  // The block first: infos of a block that the node has shown must be there.
  const block = present(await http.call('wallet/getblockbynum', { num: height }, maybeBlockSchema), height)
  checkHeader(block, height)
  const infos = await http.call('wallet/gettransactioninfobyblocknum', { num: height }, infosSchema)
  const successful = successfulTransactions(block, infos)
  return { ...refOf(block), transfers: successful.flatMap((entry) => extractTransfers(entry, context)) }
}

async function readSolid(http: TronHttp, headHeight: number): Promise<number> {
  const solid = await http.call('walletsolidity/getnowblock', {}, headerSchema)
  const { height } = refOf(solid)
  if (height > headHeight) throw new NodeUnreliable(`the node's solid block ${height} is above its head ${headHeight}`)
  return height
}

function genesisTest({ mode, chainId }: TronClientOptions): (genesisId: string) => boolean {
  if (mode === 'live' || chainId === null) return (id) => id === GENESIS[mode]
  const ending = chainId.toString(16).padStart(CHAIN_ID_DIGITS, '0')
  return (id) => id.slice(-CHAIN_ID_DIGITS) === ending
}

async function verifyTokens(http: TronHttp, tokens: readonly TronToken[]): Promise<void> {
  for (const { asset, contract, decimals } of tokens) {
    const { result, constant_result: words } = await http.call(
      'wallet/triggerconstantcontract',
      { owner_address: NOBODY, contract_address: `41${parseAccount(contract)}`, function_selector: 'decimals()' },
      constantCallSchema,
    )
    // Only this code says that there is no such contract; the others say that the node could not tell.
    const absent = result.code === 'CONTRACT_VALIDATE_ERROR'
    if (!result.result && !absent) throw new NodeUnreliable(`decimals() of ${asset}: ${result.code}`)
    const [word = ''] = absent ? [] : words
    if (!/^[0-9a-f]{64}$/.test(word) || BigInt(`0x${word}`) !== BigInt(decimals)) {
      const found = word === '' ? 'no token' : `0x${word}`
      throw new NodeMismatch(
        `decimals() of ${asset} at ${formatAccount(parseAccount(contract))}: ${found}; the registry says ${decimals}`,
      )
    }
  }
}

/** Throws `NodeUnreliable` when id and number of a block disagree. */
function refOf(header: Header): BlockRef {
  const { number, parentHash, timestamp } = header.block_header.raw_data
  checkHeader(header, number)
  return { height: number, hash: header.blockID, parentHash, time: timestamp }
}

function present(block: Block | null, height: number): Block {
  if (block === null) throw new NodeUnreliable(`the node has no block ${height}`)
  return block
}
