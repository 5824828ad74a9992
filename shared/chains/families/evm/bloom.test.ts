import { describe, expect, it } from 'vitest'
import { coversBloom, createBloomTest } from './bloom.ts'
import { TRANSFER_TOPIC } from './extract.ts'
import type { Log } from './wire.ts'

const log = (address: string, topics: string[]): Log => ({
  address,
  topics,
  data: '0x',
  blockNumber: 1,
  blockHash: '0x',
  transactionHash: '0x',
  transactionIndex: 0,
  logIndex: 0,
})
// The filter that go-ethereum's tests give for the entries "testtest", "test" and "hallo" is 2,048 bits; here the position
// rule itself is checked on one address of the Yellow Paper's form: three bits, no more.
const TOKEN = '0x095e7baea6a6c7c4c2dfeb977efac326af552d87'
const bits = (bloom: Buffer) => [...bloom].reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)

/** The smallest filter that `coversBloom` accepts only together with the entry. */
function filterOf(entry: string): Buffer {
  const mayHold = createBloomTest()
  const bloom = Buffer.alloc(256, 0xff)
  for (let bit = 0; bit < 2048; bit += 1) {
    const mask = 1 << (bit & 7)
    bloom[bit >> 3] = (bloom[bit >> 3] ?? 0) & ~mask
    if (!mayHold(bloom, entry)) bloom[bit >> 3] = (bloom[bit >> 3] ?? 0) | mask
  }
  return bloom
}

describe('log filters', () => {
  it('hold at most three bits per entry', () => {
    expect(bits(filterOf(TOKEN))).toBeLessThanOrEqual(3)
    expect(createBloomTest()(filterOf(TOKEN), TRANSFER_TOPIC)).toBe(false)
  })

  // Guarantee: a node that keeps logs back is noticed.
  it('are covered by all logs of a block and not by fewer', () => {
    const bloom = Buffer.alloc(256)
    for (const entry of [TOKEN, TRANSFER_TOPIC])
      for (const [at, byte] of filterOf(entry).entries()) bloom[at] = (bloom[at] ?? 0) | byte
    expect(coversBloom(bloom, [log(TOKEN, [TRANSFER_TOPIC])])).toBe(true)
    expect(coversBloom(bloom, [log(TOKEN, [])])).toBe(false)
    expect(coversBloom(bloom, [])).toBe(false)
    expect(coversBloom(Buffer.alloc(256), [])).toBe(true)
  })
})
