import type { RpcAnswer } from './lying-node.ts'

/** Ten refusals as providers really write them: status and JSON-RPC error. They say nothing about the chain. */
export const REFUSALS: readonly RpcAnswer[] = [
  // dRPC's free tier.
  {
    status: 408,
    error: { code: 30, message: 'Request timeout on the free tier, please upgrade your tier to the paid one' },
  },
  // Chainstack's free plan.
  {
    status: 403,
    error: { code: -32_002, message: 'Archive, Debug and Trace requests are not available on your current plan.' },
  },
  { status: 429, error: { code: -32_005, message: 'daily request count exceeded, request rate limited' } },
  { error: { code: -32_005, message: 'limit exceeded' } },
  { error: { code: -32_701, message: 'Please specify an address in your request' } },
  { status: 429, error: { code: 429, message: 'Your app has exceeded its compute units per second capacity.' } },
  { error: { code: -32_000, message: 'header not found' } },
  { error: { code: -32_603, message: 'Internal error' } },
  { status: 503, error: { code: -32_000, message: 'no backend is currently healthy to serve traffic' } },
  { error: { code: -32_601, message: 'the method is not available on your current plan, upgrade your plan' } },
]

/** How nodes and providers say that the state of an old block is gone. */
export const STATE_GONE = {
  geth: { error: { code: -32_000, message: 'missing trie node 0b1c (path ) state 0x0b is not available' } },
  chainstack: {
    status: 403,
    error: { code: -32_002, message: 'Archive, Debug and Trace requests are not available on your current plan.' },
  },
} as const satisfies Readonly<Record<string, RpcAnswer>>
