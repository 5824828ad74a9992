import { expect, it } from 'vitest'
import type { z } from 'zod'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { createSolanaFunds } from './solana-funds.ts'

const [RICH, POOR] = ['rich', 'poor'].map((address) => ({ address, matchKey: `${address}-key` })) as [Owner, Owner]
type Owner = { readonly address: string; readonly matchKey: string }
type Answer = (method: string, params: readonly unknown[]) => unknown

function tokenAccount(amount: bigint): unknown {
  const data = Buffer.alloc(165)
  data.writeBigUInt64LE(amount, 64)
  return { account: { data: [data.toString('base64'), 'base64'] } }
}
const honest: Answer = (method, [owner]) => {
  if (method === 'getMultipleAccounts') return { context: { slot: 77 }, value: [{ lamports: 2_000_000_000 }, null] }
  return { value: owner === 'poor' ? [tokenAccount(3n), tokenAccount(2n ** 63n)] : [] }
}
/** The reader on a node that gives these answers, through the schemas of the real one. */
function read(answer: Answer) {
  const call = async <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>) => {
    const parsed = schema.safeParse(answer(method, params))
    if (!parsed.success) throw new RpcFailure('retry', `${method}: malformed result`)
    return parsed.data
  }
  const pool = { use: (work: (node: RpcNode) => unknown) => work({ call } as unknown as RpcNode) }
  const tokens = [{ asset: 'usdc_solana' as const, contract: 'mint' }]
  const reader = createSolanaFunds(pool as unknown as RpcPool<RpcNode>, { nativeAsset: 'sol_solana', tokens })
  return reader.read([RICH, POOR], { timeoutMs: 1_000 })
}

it('adds up all token accounts of an owner, and costs a signature, or two without coins', async () => {
  const { height, funds } = await read(honest)
  expect(height).toBe(77)
  expect(funds.get(RICH.matchKey)).toEqual([
    { asset: 'sol_solana', balanceBase: 2_000_000_000n, feeBase: 5_000n, topUpBase: 0n },
    { asset: 'usdc_solana', balanceBase: 0n, feeBase: null, topUpBase: 0n },
  ])
  expect(funds.get(POOR.matchKey)).toEqual([
    { asset: 'sol_solana', balanceBase: 0n, feeBase: null, topUpBase: 0n },
    { asset: 'usdc_solana', balanceBase: 2n ** 63n + 3n, feeBase: 10_000n, topUpBase: 5_000n },
  ])
})

// Guarantee: an answer that is missing or of another form is unknown, and never 0.
it.each<[string, unknown]>([
  ['no accounts', { value: null }],
  ['a short account', { value: [{ account: { data: ['AAAA', 'base64'] } }] }],
  ['another encoding', { value: [{ account: { data: { parsed: {} } } }] }],
])('a token of which a node gives %s is unknown', async (_what, lie) => {
  const { funds } = await read((method, params) =>
    method === 'getTokenAccountsByOwner' ? lie : honest(method, params),
  )
  expect(funds.get(POOR.matchKey)?.[1]).toMatchObject({ balanceBase: null, feeBase: null })
  expect(funds.get(RICH.matchKey)?.[0]?.balanceBase).toBe(2_000_000_000n)
})

it('concludes nothing from a list of another length, or of numbers that lost digits', async () => {
  const accounts =
    (value: unknown): Answer =>
    (method, params) =>
      method === 'getMultipleAccounts' ? { context: { slot: 1 }, value } : honest(method, params)
  const { funds } = await read(accounts([null]))
  expect([RICH, POOR].map(({ matchKey }) => funds.get(matchKey)?.[0]?.balanceBase)).toEqual([null, null])
  await expect(read(accounts([{ lamports: 2 ** 60 }, null]))).rejects.toMatchObject({ name: 'NodeUnreliable' })
})
