import { expect, it } from 'vitest'
import type { z } from 'zod'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { TronNode } from './api.ts'
import { usedAccounts } from './used-accounts.ts'

const [EXISTS, HOLDS, UNUSED] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string]
const TOKENS = [{ asset: 'usdt_tron', contract: ASSETS.usdt_tron.contract, decimals: 6 }] as const
const accounts = [EXISTS, HOLDS, UNUSED].map((matchKey) => ({ matchKey }))

/** A node that gives these answers, through the schemas of the real one. */
function nodeOf(answer: (method: string, params: Readonly<Record<string, unknown>>) => unknown): TronNode {
  const call = async <T>(method: string, params: Readonly<Record<string, unknown>>, schema: z.ZodType<T>) =>
    schema.parse(answer(method, params))
  return { call } as unknown as TronNode
}

const honest = (method: string, params: Readonly<Record<string, unknown>>): unknown => {
  if (method === 'wallet/getaccount') return params['address'] === `41${EXISTS}` ? { address: `41${EXISTS}` } : {}
  const held = String(params['parameter']).endsWith(HOLDS) ? '5' : '0'
  return { result: { result: true }, constant_result: [held.padStart(64, '0')] }
}

it('finds accounts that exist and those that hold tokens without existing', async () => {
  expect(await usedAccounts(nodeOf(honest), TOKENS, accounts)).toEqual(new Set([EXISTS, HOLDS]))
})

// Guarantee: an answer that is missing or of another form never makes an address count as unused.
it.each([
  ['an error in a good status', 'wallet/getaccount', { Error: 'class java.lang.Exception' }],
  ['another account', 'wallet/getaccount', { address: `41${'f'.repeat(40)}` }],
  ['no balance', 'wallet/triggerconstantcontract', { result: { result: true }, constant_result: [] }],
  [
    'a refusal',
    'wallet/triggerconstantcontract',
    { result: { code: 'OTHER_ERROR' }, constant_result: ['0'.repeat(64)] },
  ],
])('concludes nothing from %s', async (_what, about, lie) => {
  const node = nodeOf((method, params) => (method === about ? lie : honest(method, params)))
  await expect(usedAccounts(node, TOKENS, accounts)).rejects.toThrow()
})
