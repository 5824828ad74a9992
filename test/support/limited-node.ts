import { type RpcAnswer, startLyingNode } from './lying-node.ts'

/** Blocks of one request for logs: the free plan of QuickNode (`shared/domain/nodes/providers.ts`). */
const LOG_RANGE_MAX = 5
/** One call in so many is refused for its rate. */
const REFUSED_EVERY = 23

/** A free provider in front of an honest node, and what it refused. */
export interface LimitedNode {
  readonly url: string
  readonly refused: { rate: number; range: number }
  close(): Promise<void>
}

/** Starts a provider with a range limit of five blocks that refuses every 23rd call: by status 429 or by a JSON-RPC error. */
export async function startLimitedNode(honestUrl: string): Promise<LimitedNode> {
  const refused = { rate: 0, range: 0 }
  let calls = 0
  const node = await startLyingNode(honestUrl, ({ method, params }, truth): RpcAnswer => {
    calls += 1
    if (calls % REFUSED_EVERY === 0) {
      refused.rate += 1
      const error = { code: -32_005, message: 'daily request count exceeded, request rate limited' }
      return refused.rate % 2 === 0 ? { error } : { status: 429, headers: { 'retry-after': '0' } }
    }
    const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
    if (method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= LOG_RANGE_MAX) {
      refused.range += 1
      return { error: { code: -32_602, message: `eth_getLogs is limited to a ${LOG_RANGE_MAX} range` } }
    }
    return truth
  })
  return { ...node, refused }
}
