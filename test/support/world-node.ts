import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RpcAnswer } from './lying-node.ts'
import { STATE_GONE } from './refusals.ts'

/** How a provider differs from a node that has everything and says it as it is. */
export interface NodeWorld {
  /** Newest blocks of which it has the state; null for all. */
  readonly stateBlocks: number | null
  /** How it says that a state is gone. */
  readonly words: keyof typeof STATE_GONE
  /** Takes the newest state where it is asked for that of a block by hash. */
  readonly ignoresHashes: boolean
  /** By how many blocks the second of its two back ends is behind; 0 for one back end. */
  readonly lagBlocks: number
  /** Calls the newest block final. */
  readonly isFinalAtHead: boolean
  /** Offers traces, of blocks whose state it has. */
  readonly hasTraces: boolean
}

/** A node that has everything but traces. */
export const HONEST: NodeWorld = {
  stateBlocks: null,
  words: 'geth',
  ignoresHashes: false,
  lagBlocks: 0,
  isFinalAtHead: false,
  hasTraces: false,
}

/** A provider in front of an honest node. */
export interface WorldNode {
  readonly url: string
  /** Calls by method since the start. */
  readonly calls: ReadonlyMap<string, number>
  /** How it is from now on. */
  become(world: NodeWorld): void
  /** Refuses the next calls in these words; `ofState`: only those for balances. */
  refuse(words: RpcAnswer, calls: number, ofState?: boolean): void
  /** Shows the next times of the newest block so much later, in the header as in answers of `eth_call`. */
  runAhead(seconds: number, answers: number): void
  /** Lets nobody in while the chain is changed, so that it changes in one moment. */
  hold(change: () => Promise<void>): Promise<void>
  /** Nothing announced happens any more. */
  mend(): void
  close(): Promise<void>
}

/** A JSON-RPC call. */
interface Call {
  readonly id?: unknown
  readonly method: string
  readonly params: unknown[]
}

const QUANTITY = /^0x[0-9a-f]+$/i
/** Where a question for the state of a block names the block. */
const STATE_AT: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
}
const TRACES = /^(trace|debug|arbtrace)_/
const NOT_OFFERED: RpcAnswer = {
  error: { code: -32_601, message: 'the method trace_block does not exist/is not available' },
}
const UNKNOWN_BLOCK: RpcAnswer = { error: { code: -32_000, message: 'header not found' } }

/** Starts a provider that is like `world` at first. Answers beyond its back end's head are those of a node that has no such block. */
export async function startWorldNode(honestUrl: string, world: NodeWorld = HONEST): Promise<WorldNode> {
  const node = createAnswers(honestUrl, world)
  let gate: Promise<void> = Promise.resolve()
  let inFlight = 0
  let onIdle: (() => void) | null = null

  async function handle(body: string, response: ServerResponse): Promise<void> {
    await gate
    inFlight += 1
    try {
      const call = JSON.parse(body) as Call
      const { status = 200, ...answer } = await node.answer(call)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...answer }))
    } finally {
      inFlight -= 1
      if (inFlight === 0) onIdle?.()
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      handle(Buffer.concat(chunks).toString(), response).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: node.calls,
    become: node.become,
    refuse: node.refuse,
    runAhead: node.runAhead,
    mend: node.mend,
    async hold(change) {
      let open = (): void => {}
      gate = new Promise((resolve) => {
        open = resolve
      })
      try {
        if (inFlight > 0) {
          await new Promise<void>((resolve) => {
            onIdle = resolve
          })
        }
        await change()
      } finally {
        onIdle = null
        open()
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function createAnswers(honestUrl: string, first: NodeWorld) {
  let world = first
  let refusal: { readonly words: RpcAnswer; readonly ofState: boolean; left: number } | null = null
  let ahead: { readonly seconds: number; left: number } | null = null
  const calls = new Map<string, number>()
  const heights = new Map<string, number | null>()
  let turn = 0

  const honest = async (method: string, params: readonly unknown[]): Promise<RpcAnswer> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(honestUrl, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    const { result, error } = (await response.json()) as RpcAnswer
    return error === undefined ? { result } : { error }
  }
  const headOf = async () => Number((await honest('eth_blockNumber', [])).result)

  /** Height of a block that is named by hash; null when no branch has it. */
  async function heightOf(hash: string): Promise<number | null> {
    const known = heights.get(hash)
    if (known !== undefined) return known
    const { result } = await honest('eth_getBlockByHash', [hash, false])
    const height = result == null ? null : Number((result as { readonly number: string }).number)
    heights.set(hash, height)
    return height
  }

  async function placeOf(tag: unknown, head: number): Promise<number | null> {
    if (typeof tag === 'object' && tag !== null && 'blockHash' in tag) return heightOf(String(tag.blockHash))
    if (typeof tag === 'string' && QUANTITY.test(tag)) return Number(tag)
    return head
  }

  async function tracedHeight(method: string, of: unknown): Promise<number> {
    if (!/transaction$/i.test(method)) return Number(of)
    const { result } = await honest('eth_getTransactionByHash', [of])
    return Number((result as { readonly blockNumber?: string } | null)?.blockNumber ?? 0)
  }

  /** A question as the back end takes it: what it has no block for is answered at once. */
  async function atBackEnd({
    method,
    params,
  }: Call): Promise<{ readonly call: Call } | { readonly answer: RpcAnswer }> {
    const realHead = await headOf()
    turn += 1
    const head = Math.max(0, realHead - (turn % 2 === 0 ? world.lagBlocks : 0))
    const newest = `0x${head.toString(16)}`
    if (method === 'eth_blockNumber') return { answer: { result: newest } }
    const at = STATE_AT[method]
    if (at !== undefined) return stateQuestion({ method, params }, at, { head, realHead })
    if (TRACES.test(method)) {
      if (!world.hasTraces) return { answer: NOT_OFFERED }
      // Tracing runs transactions again, which needs the state before them.
      const height = await tracedHeight(method, params[0])
      const isOld = world.stateBlocks !== null && realHead - height >= world.stateBlocks
      return isOld ? { answer: STATE_GONE[world.words] } : { call: { method, params } }
    }
    if (method === 'eth_getBlockByNumber') return { call: { method, params: [blockTag(params[0], newest), params[1]] } }
    if (method === 'eth_getBlockByHash' && head < realHead) {
      const height = await heightOf(String(params[0]))
      if (height !== null && height > head) return { answer: { result: null } }
    }
    if (method === 'eth_getLogs') return { call: { method, params: [logsUpTo(params[0], head)] } }
    return { call: { method, params } }
  }

  async function stateQuestion(
    { method, params }: Call,
    at: number,
    { head, realHead }: { readonly head: number; readonly realHead: number },
  ): Promise<{ readonly call: Call } | { readonly answer: RpcAnswer }> {
    const newest = `0x${head.toString(16)}`
    const tag = world.ignoresHashes && typeof params[at] === 'object' ? 'latest' : (params[at] ?? 'latest')
    const height = await placeOf(tag, head)
    if (height === null || height > head) return { answer: UNKNOWN_BLOCK }
    if (world.stateBlocks !== null && realHead - height >= world.stateBlocks) return { answer: STATE_GONE[world.words] }
    return { call: { method, params: params.with(at, typeof tag === 'string' ? blockTag(tag, newest) : tag) } }
  }

  const blockTag = (tag: unknown, newest: string): unknown => {
    if (tag === 'latest' || tag === 'pending' || (world.isFinalAtHead && (tag === 'finalized' || tag === 'safe')))
      return newest
    return typeof tag === 'string' && QUANTITY.test(tag) && Number(tag) > Number(newest) ? '0xffffffffffff' : tag
  }

  async function answer({ method, params }: Call): Promise<RpcAnswer> {
    calls.set(method, (calls.get(method) ?? 0) + 1)
    if (refusal !== null && refusal.left > 0 && (!refusal.ofState || STATE_AT[method] !== undefined)) {
      refusal.left -= 1
      return refusal.words
    }
    const routed = await atBackEnd({ method, params })
    if ('answer' in routed) return routed.answer
    const truth = await honest(routed.call.method, routed.call.params)
    return ahead === null ? truth : later(method, params, truth)
  }

  /** The newest block's time, moved; other answers as they are. */
  function later(method: string, params: readonly unknown[], truth: RpcAnswer): RpcAnswer {
    if (ahead === null || ahead.left === 0 || truth.result == null) return truth
    const { seconds } = ahead
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
      ahead.left -= 1
      const block = truth.result as { readonly timestamp: string }
      return { result: { ...block, timestamp: `0x${(Number(block.timestamp) + seconds).toString(16)}` } }
    }
    const isFigures = method === 'eth_call' && (params[0] as { readonly to?: string }).to === undefined
    if (!isFigures || params[1] !== 'latest') return truth
    ahead.left -= 1
    const words = String(truth.result)
    const time = BigInt(words.slice(0, 66)) + BigInt(seconds)
    return { result: `0x${time.toString(16).padStart(64, '0')}${words.slice(66)}` }
  }

  return {
    calls,
    answer,
    become(next: NodeWorld) {
      world = next
    },
    refuse(words: RpcAnswer, count: number, ofState = false) {
      refusal = { words, ofState, left: count }
    },
    runAhead(seconds: number, answers: number) {
      ahead = { seconds, left: answers }
    },
    mend() {
      refusal = null
      ahead = null
    },
  }
}

/** Logs of blocks that a back end does not have are missing from its answer. */
function logsUpTo(question: unknown, head: number): unknown {
  const filter = question as { readonly fromBlock?: string; readonly toBlock?: string }
  const { toBlock } = filter
  if (toBlock === undefined || !QUANTITY.test(toBlock) || Number(toBlock) <= head) return question
  return { ...filter, toBlock: `0x${head.toString(16)}` }
}
