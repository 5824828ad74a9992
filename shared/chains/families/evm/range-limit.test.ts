import { describe, expect, it } from 'vitest'
import { isTooMuch, parseRangeMax } from './range-limit.ts'
import { classify } from './rpc-failure.ts'

describe('case 14: what providers say when a range is too wide', () => {
  it.each<[string, number | null]>([
    ['Max range: 800', 800],
    ['requested too many blocks from 1 to 5000, maximum is set to 2048', 2_048],
    ['Maximum allowed number of requested blocks is 1000', 1_000],
    ['eth_getLogs is limited to a 10,000 range', 10_000],
    ['eth_getLogs is limited to a 5 range, upgrade from free tier', 5],
    ['eth_getLogs is limited to 0 - 5000 blocks range', 5_000],
    ['eth_getLogs is limited to 1024 block range', 1_024],
    ['block range 6000 exceeds the range allowed for your plan (6000 > 500)', 500],
    ['Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.', 10],
    ['please limit the query to at most 1,000 blocks', 1_000],
    ['exceed maximum block range: 50000', 50_000],
    ['exceed max block range: 5000', 5_000],
    ['query exceeds max block range 100', 100],
    ['block range greater than 10000 max', 10_000],
    ['block range exceeds 1000', 1_000],
    ['eth_getLogs range is too large, max is 10k blocks', 10_000],
    ['GetLogs query must be smaller than size 1024', 1_024],
    ['block range is too wide (maximum 1024)', 1_024],
    ['maximum [from, to] blocks distance: 2000', 2_000],
    ['ranges over 10000 blocks are not supported on freetier', 10_000],
    ['query returned more than 10000 results. Try with this block range [0x10, 0x1f].', 16],
    ['Log response size exceeded. Based on your parameters, this block range should work: [0x1, 0xa]', 10],
    ['query exceeds max results 20000, retry with the range 100-149', 50],
    ['query returned more than 10000 results', null],
    ['response size should not greater than 10000000 bytes', null],
    ['backend response too large', null],
    ['Block range is too large', null],
    ['block range is too wide', null],
    ['logs matched by query exceeds limit of 10000', null],
    ['Block range limit exceeded.', null],
    ['query timeout exceeded', null],
    ['Try with this block range [0x20, 0x1f].', null],
  ])('%s', (message, blocks) => {
    expect(parseRangeMax(message)).toBe(blocks)
    expect(classify({ code: -32_602, message })).toBe('split')
  })

  it.each([
    'you are limited to a 25 requests per second rate',
    'Too many requests',
    'rate limit exceeded',
    'limit exceeded',
    'daily request count exceeded, request rate limited',
  ])('is not "%s"', (message) => {
    expect(isTooMuch(message)).toBe(false)
    expect(classify({ code: -32_005, message })).toBe('rate')
  })

  it.each([
    [-32_601, 'the method trace_block does not exist/is not available'],
    [-32_000, 'method trace_block not supported'],
    [-32_000, 'trace_block is not available on your plan'],
  ])('nor a refusal (%i)', (code, message) => {
    expect(classify({ code, message })).toBe('refused')
  })
})
