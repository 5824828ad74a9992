import { z } from 'zod'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { CoinMove } from './extract.ts'
import { toQuantity } from './rpc.ts'
import {
  type Block,
  type CallFrame,
  type CallTrace,
  callFrameSchema,
  callTraceSchema,
  heightSchema,
  type ParityTrace,
  parityTraceSchema,
} from './wire.ts'

/** Tracing runs every transaction of the block again. Two tries and the other ways of reading fit into a minute. */
const BLOCK_LIMITS = { timeoutMs: 12_000 } as const
/** Limits for tracing one transaction: time in milliseconds and response size; beyond them its internal transfers are read from balances. */
const TRANSACTION_LIMITS = { timeoutMs: 10_000, maxBytes: 16 * 2 ** 20 } as const
/** Newest blocks with which a node is probed for a method: tracing one of them may exceed its limits. */
const PROBES = 2

/** Calls that move value to the callee. A `callcode` or `delegatecall` carries a value but moves none; a `staticcall` has none. */
const MOVING_CALLS = new Set(['call', 'create', 'create2', 'selfdestruct'])

type TraceMethod = 'trace_block' | 'debug_traceBlockByNumber'

const ALONE = { trace_block: 'trace_transaction', debug_traceBlockByNumber: 'debug_traceTransaction' } as const
const CALL_TRACER = { tracer: 'callTracer' } as const

/** Reads internal transfers of blocks, with the tracing method that a node offers. */
export interface TraceReader {
  /** Checks once whether a node offers traces. Throws `NodeUnreliable` when the node's response is unclear. */
  isOffered(node: RpcNode): Promise<boolean>
  /** Whether any node was found to offer traces. */
  readonly wasOffered: boolean
  /**
   * Internal transfers of the block's transactions, in order of execution, without direct transfers
   * and without reverted calls. Throws `NodeUnreliable` when the traces are not those of the block's transactions.
   */
  read(node: RpcNode, block: Block): Promise<readonly CoinMove[]>
  /** The same for one transaction of the block; a response of more than 16 MB is cut off and fails. */
  readTransaction(node: RpcNode, block: Pick<Block, 'number' | 'hash'>, txHash: string): Promise<readonly CoinMove[]>
}

/** Caches which method each node offers. */
export function createTraceReader(): TraceReader {
  const methods = new WeakMap<RpcNode, TraceMethod | null>()
  let wasOffered = false

  async function methodOf(node: RpcNode): Promise<TraceMethod | null> {
    const known = methods.get(node)
    if (known !== undefined) return known
    const height = await node.call('eth_blockNumber', [], heightSchema)
    let method: TraceMethod | null = null
    if (await offers(node, 'trace_block', height)) method = 'trace_block'
    else if (await offers(node, 'debug_traceBlockByNumber', height)) method = 'debug_traceBlockByNumber'
    methods.set(node, method)
    wasOffered ||= method !== null
    return method
  }

  return {
    isOffered: async (node) => (await methodOf(node)) !== null,
    get wasOffered() {
      return wasOffered
    },
    async read(node, block) {
      if (block.transactions.length === 0) return []
      const method = await methodOf(node)
      if (method === null) throw new RpcFailure('refused', `${node.host} offers no traces`)
      return method === 'trace_block'
        ? parityMoves(block, await ask(node, method, block.number, z.array(parityTraceSchema)))
        : callMoves(block, await ask(node, method, block.number, z.array(callTraceSchema)))
    },
    async readTransaction(node, block, txHash) {
      const method = await methodOf(node)
      if (method === null) throw new RpcFailure('refused', `${node.host} offers no traces`)
      if (method === 'debug_traceBlockByNumber') {
        const root = await node.call(ALONE[method], [txHash, CALL_TRACER], callFrameSchema, TRANSACTION_LIMITS)
        return rootMoves(txHash, root)
      }
      const traces = await node.call(ALONE[method], [txHash], z.array(parityTraceSchema), TRANSACTION_LIMITS)
      return transactionMoves(block, txHash, traces)
    },
  }
}

function ask<T>(node: RpcNode, method: TraceMethod, height: number, schema: z.ZodType<T>): Promise<T> {
  const options = method === 'trace_block' ? [] : [CALL_TRACER]
  return node.call(method, [toQuantity(height), ...options], schema, BLOCK_LIMITS)
}

/** Requested at the head, where every node has the state. */
async function offers(node: RpcNode, method: TraceMethod, head: number): Promise<boolean> {
  let failure: unknown
  for (let height = head; height > head - PROBES && height >= 0; height -= 1) {
    try {
      await ask(node, method, height, z.array(z.unknown()))
      return true
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      if (error.kind === 'refused' || error.kind === 'pruned') return false
      // A response above the limit proves that the method exists.
      if (error.kind === 'split') return true
      failure = error
    }
  }
  throw failure
}

/** From a flat list of frames: a failed one reverts all frames below it, which are not marked themselves. */
function parityMoves(block: Block, traces: readonly ParityTrace[]): readonly CoinMove[] {
  const moves: CoinMove[] = []
  const movesOf = createFrameReader()
  let roots = 0
  for (const trace of traces) {
    const { transactionHash: txHash, transactionPosition: position, traceAddress } = trace
    checkBlock(block, trace)
    if (txHash === null || txHash === undefined) continue
    const isRoot = traceAddress.length === 0
    if (isRoot) roots += 1
    if (block.transactions[position ?? -1]?.hash !== txHash || (isRoot && position !== roots - 1)) {
      throw foreign('trace_block', block)
    }
    moves.push(...movesOf(txHash, trace))
  }
  checkCount('trace_block', block, roots)
  return moves
}

/** The same for one transaction: its list begins with its only root. */
function transactionMoves(
  block: Pick<Block, 'number' | 'hash'>,
  txHash: string,
  traces: readonly ParityTrace[],
): readonly CoinMove[] {
  const movesOf = createFrameReader()
  if (traces.findIndex(({ traceAddress }) => traceAddress.length === 0) !== 0) {
    throw contradiction('trace_transaction', `the traces of transaction ${txHash} do not begin with it`)
  }
  return traces.flatMap((trace, index) => {
    checkBlock(block, trace)
    if (trace.transactionHash !== txHash || (index > 0 && trace.traceAddress.length === 0)) {
      throw contradiction('trace_transaction', `the traces of transaction ${txHash} are those of another one`)
    }
    return movesOf(txHash, trace)
  })
}

function checkBlock(block: Pick<Block, 'number' | 'hash'>, { blockHash }: ParityTrace): void {
  if (blockHash !== block.hash)
    throw contradiction('trace_block', `a trace of block ${block.number} is of another block`)
}

/** Returns the transfer of each frame; frames come in order of execution. */
function createFrameReader(): (txHash: string, trace: ParityTrace) => readonly CoinMove[] {
  const failed = new Set<string>()
  return (txHash, { traceAddress, type, action, result, error }) => {
    const path = [txHash, ...traceAddress]
    if (path.some((_, index) => failed.has(path.slice(0, index + 1).join()))) return []
    if (error !== null && error !== undefined) {
      failed.add(path.join())
      return []
    }
    return traceAddress.length === 0 ? [] : moveOf(txHash, parityStep(type, action, result?.address))
  }
}

/** The transfer of a frame, in a form common to both trace formats. */
interface Step {
  readonly kind: string
  readonly from?: string | undefined
  readonly to?: string | null | undefined
  readonly value?: string | null | undefined
}

function parityStep(type: string, action: ParityTrace['action'], created: string | undefined): Step {
  if (type === 'suicide' || type === 'selfdestruct') {
    return { kind: 'selfdestruct', from: action.address, to: action.refundAddress, value: action.balance }
  }
  if (type === 'create') return { kind: type, from: action.from, to: created, value: action.value }
  return { kind: action.callType ?? type, from: action.from, to: action.to, value: action.value }
}

/** From nested frames, each of which contains its calls. */
function callMoves(block: Block, traces: readonly CallTrace[]): readonly CoinMove[] {
  checkCount('debug_traceBlockByNumber', block, traces.length)
  return traces.flatMap(({ txHash, result }, index) => {
    const transaction = block.transactions[index]
    if (transaction === undefined || !isTraceOf(transaction, txHash, result)) {
      throw foreign('debug_traceBlockByNumber', block)
    }
    return rootMoves(transaction.hash, result)
  })
}

function rootMoves(txHash: string, { error, calls = [] }: CallFrame): readonly CoinMove[] {
  return error === undefined ? calls.flatMap((call) => framesMoves(txHash, call)) : []
}

/** A node that omits the transaction id must at least show the same sender and value. */
function isTraceOf(transaction: Block['transactions'][number], txHash: string | undefined, root: CallFrame): boolean {
  if (txHash !== undefined) return txHash === transaction.hash
  const sameSender = root.from.toLowerCase() === transaction.from.toLowerCase()
  return sameSender && BigInt(root.value ?? '0x0') === BigInt(transaction.value)
}

function framesMoves(txHash: string, frame: CallFrame): readonly CoinMove[] {
  if (frame.error !== undefined) return []
  const { type, from, to, value, calls = [] } = frame
  const own = moveOf(txHash, { kind: type.toLowerCase(), from, to, value })
  return [...own, ...calls.flatMap((call) => framesMoves(txHash, call))]
}

function moveOf(txHash: string, { kind, from, to, value }: Step): readonly CoinMove[] {
  if (!MOVING_CALLS.has(kind) || from === undefined || to === undefined || to === null) return []
  const amount = BigInt(value ?? '0x0')
  if (amount === 0n) return []
  return [{ txHash, from: from.slice(2).toLowerCase(), to: to.slice(2).toLowerCase(), value: amount }]
}

function checkCount(method: TraceMethod, block: Block, traced: number): void {
  if (traced === block.transactions.length) return
  const message = `${traced} of ${block.transactions.length} transactions of block ${block.number} are traced`
  throw contradiction(method, message)
}

function foreign(method: TraceMethod, { number }: Block): RpcFailure {
  return contradiction(method, `the traces of block ${number} are not those of its transactions`)
}

const contradiction = (method: string, message: string) => new RpcFailure('retry', message, { method })
