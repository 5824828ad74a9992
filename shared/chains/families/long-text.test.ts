import { expect, it } from 'vitest'
import { parseLosslessJson as parsePrices } from '#shared/contracts/rates/lossless-json.ts'
import { bytesSchema, logSchema } from './evm/wire.ts'
import { parseLosslessJson } from './tron/lossless-json.ts'
import { constantCallSchema } from './tron/wire.ts'

const [HASH, DIGITS] = [`0x${'a'.repeat(64)}`, 'ab'.repeat(8 * 2 ** 20)]

// Guarantee: what anybody with enough gas writes into an event overflows no pattern: its block would be read by no node.
it('reads data of 8 MB in an event, and in every other text of a node', () => {
  const place = { blockNumber: '0x1', blockHash: HASH, transactionHash: HASH, transactionIndex: '0x0', logIndex: '0x0' }
  const log = { ...place, address: `0x${'a'.repeat(40)}`, topics: [HASH], data: `0x${DIGITS}` }
  expect(logSchema.safeParse(log).success).toBe(true)
  expect(bytesSchema.safeParse(`0x${DIGITS}a`).success).toBe(false)
  const result = { result: { result: true }, constant_result: [DIGITS] }
  expect(constantCallSchema.safeParse(result).success).toBe(true)
  for (const parse of [parseLosslessJson, parsePrices]) expect(parse(`["${DIGITS}"]`)).toEqual([DIGITS])
})
