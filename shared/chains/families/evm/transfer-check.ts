import { z } from 'zod'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import { isLasting } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { onlyReceiver, type SeenTransfer, showsTransfer } from '../../nodes/same-transfer.ts'
import {
  type CoinMove,
  coinTransfers,
  loggedCoinMoves,
  nativeTransfers,
  SYSTEM_COIN,
  tokenTransfers,
} from './extract.ts'
import { toQuantity } from './rpc.ts'
import type { TraceReader } from './traces.ts'
import { type Block, blockSchema, type Log, loggedReceiptSchema, logSchema, transactionSchema } from './wire.ts'

/** Concurrent requests. */
const CONCURRENCY = 4

/**
 * Checks transactions with one node: returns the ids of those that it does not show, successful, in the block where they were seen,
 * or whose amount, receiver or token there differs. Internal transfers are compared where
 * the node traces that block; elsewhere their transaction is enough. Throws `NodeUnreliable` when the node contradicts itself.
 */
export function createTransferCheck(
  keyPrefix: string,
  coin: AssetId,
  traces: TraceReader,
): (node: RpcNode, seen: readonly SeenTransaction[]) => Promise<readonly string[]> {
  async function isShown(node: RpcNode, { txHash, blockHash, transfer }: SeenTransaction, movesIn: MovesIn) {
    const receipt = await node.call('eth_getTransactionReceipt', [txHash], loggedReceiptSchema.nullable())
    const mayBeUnlisted = ['p', 't'].some((part) => transfer?.key.startsWith(`${keyPrefix}:${txHash}:${part}:`))
    if (receipt === null) {
      if (transfer === undefined || !mayBeUnlisted) return false
      return isLogged(node, { keyPrefix, coin }, { txHash, blockHash, transfer })
    }
    if (receipt.transactionHash !== txHash) throw new NodeUnreliable('the node gave the receipt of another transaction')
    if (receipt.blockHash !== blockHash || receipt.status !== '0x1') return false
    if (transfer === undefined) return true
    const scope = { keyPrefix, coin }
    const block = { number: receipt.blockNumber, hash: blockHash }
    if (transfer.key.startsWith(`${keyPrefix}:${txHash}:i:`)) {
      const moves = await movesIn(block, txHash)
      return moves === null || showsTransfer(movedInside(moves, scope, transfer), transfer)
    }
    const found = transfer.key.startsWith(`${keyPrefix}:${txHash}:n`)
      ? await sentBy(node, scope, { txHash, transfer, block })
      : loggedIn(receipt.logs, scope, { txHash, transfer, block })
    return showsTransfer(found, transfer)
  }

  return async (node, seen) => {
    const movesIn = rememberingMoves(node, traces)
    const answers = await mapConcurrently(seen, CONCURRENCY, async (one) =>
      (await isShown(node, one, movesIn)) ? [] : [one.txHash],
    )
    return answers.flat()
  }
}

/** Internal transfers of a block; null where the node cannot return them. */
type MovesIn = (block: Pick<Block, 'number' | 'hash'>, txHash: string) => Promise<readonly CoinMove[] | null>

/** Traces each block once: one transaction may pay hundreds of addresses, and tracing is the most expensive request. */
function rememberingMoves(node: RpcNode, traces: TraceReader): MovesIn {
  const known = new Map<string, Promise<readonly CoinMove[] | 'too_much' | null>>()
  return async (block, txHash) => {
    const whole = known.get(block.hash) ?? tracedMoves(node, traces, block)
    known.set(block.hash, whole)
    const moves = await whole
    return moves === 'too_much' ? movesAlone(node, traces, block, txHash) : moves
  }
}

/** Null where the node cannot trace even this transaction alone: its presence in the block must then suffice. */
async function movesAlone(
  node: RpcNode,
  traces: TraceReader,
  block: Pick<Block, 'number' | 'hash'>,
  txHash: string,
): Promise<readonly CoinMove[] | null> {
  try {
    return await traces.readTransaction(node, block, txHash)
  } catch (error) {
    if (isLasting(error)) return null
    if (error instanceof NodeUnreliable) return []
    throw error
  }
}

async function tracedMoves(
  node: RpcNode,
  traces: TraceReader,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
): Promise<readonly CoinMove[] | 'too_much' | null> {
  if (!(await traces.isOffered(node))) return null
  const block = await node.call('eth_getBlockByNumber', [toQuantity(number), true], blockSchema.nullable())
  if (block?.hash !== hash) return []
  try {
    return await traces.read(node, block)
  } catch (error) {
    // Traces need the state before the block, which only archives store for long.
    if (error instanceof RpcFailure && error.kind === 'pruned') return null
    if (error instanceof NodeUnreliable) return 'too_much'
    throw error
  }
}

const movedInside = (moves: readonly CoinMove[], { keyPrefix, coin }: Scope, transfer: SeenTransfer) =>
  coinTransfers(keyPrefix, 'i', moves, coin, onlyReceiver(transfer))

interface Scope {
  readonly keyPrefix: string
  readonly coin: AssetId
}

interface Question {
  readonly txHash: string
  readonly transfer: SeenTransfer
  readonly block: Pick<Block, 'number' | 'hash'>
}

async function sentBy(
  node: RpcNode,
  { keyPrefix, coin }: Scope,
  { txHash, transfer, block }: Question,
): Promise<readonly RawTransfer[]> {
  const sent = await node.call('eth_getTransactionByHash', [txHash], transactionSchema.nullable())
  if (sent?.blockHash !== block.hash || sent.hash !== txHash) return []
  const transactions = [{ ...sent, blockHash: block.hash }]
  return nativeTransfers(keyPrefix, blockOf(block, transactions), coin, onlyReceiver(transfer))
}

/** Nodes that do not list a state-sync transaction may lack its receipt too; its logs are in the block all the same. */
async function isLogged(
  node: RpcNode,
  scope: Scope,
  {
    txHash,
    blockHash,
    transfer,
  }: { readonly txHash: string; readonly blockHash: string; readonly transfer: SeenTransfer },
): Promise<boolean> {
  const question = { blockHash, address: transfer.contract ?? SYSTEM_COIN }
  const logs = await node.call('eth_getLogs', [question], z.array(logSchema))
  const own = logs.filter((log) => log.transactionHash === txHash && log.blockHash === blockHash)
  const [first] = own
  if (first === undefined) return false
  const block = { number: first.blockNumber, hash: blockHash }
  return showsTransfer(loggedIn(own, scope, { txHash, transfer, block }), transfer)
}

function loggedIn(
  logs: readonly Log[],
  { keyPrefix, coin }: Scope,
  { txHash, transfer, block }: Question,
): readonly RawTransfer[] {
  // Logs give their transaction's position in the block; the other transactions are neither known nor needed here.
  const places = Math.max(0, ...logs.map(({ transactionIndex }) => transactionIndex + 1))
  const one = { hash: txHash, blockHash: block.hash, from: '', value: '0x0' }
  const whole = blockOf(block, new Array<typeof one>(places).fill(one))
  const watches = onlyReceiver(transfer)
  return transfer.contract === null
    ? coinTransfers(keyPrefix, 'p', loggedCoinMoves(whole, logs), coin, watches)
    : tokenTransfers(keyPrefix, whole, logs, new Map([[transfer.contract.toLowerCase(), null]]), watches)
}

function blockOf(block: Pick<Block, 'number' | 'hash'>, transactions: Block['transactions']): Block {
  return { ...block, transactions, parentHash: '', timestamp: 0, logsBloom: '' }
}
