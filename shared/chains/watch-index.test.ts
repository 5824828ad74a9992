import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWatchIndex } from './watch-index.ts'

const hexKey = fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: 40, maxLength: 40 }).map((d) => d.join(''))

describe('createWatchIndex', () => {
  it('answers exactly like a set, for keys of every length', () => {
    // Guarantee: no address is ever taken for another, and none is forgotten.
    fc.assert(
      fc.property(
        fc.array(fc.oneof(hexKey, fc.constantFrom('0'.repeat(40), '0014ab', `${'0'.repeat(39)}1`)), {
          maxLength: 3000,
        }),
        fc.array(hexKey, { maxLength: 50 }),
        (keys, probes) => {
          const index = createWatchIndex()
          const model = new Set(keys)
          for (const key of keys) index.add(key)
          expect(index.size).toBe(model.size)
          for (const key of [...keys, ...probes]) expect(index.has(key)).toBe(model.has(key))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('holds a million addresses in less than 100 MB', () => {
    const before = process.memoryUsage().arrayBuffers
    const index = createWatchIndex()
    const key = (n: number) =>
      (BigInt(n) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).padStart(40, '0').slice(-40)
    for (let n = 1; n <= 1_000_000; n += 1) index.add(key(n))
    expect(index.size).toBe(1_000_000)
    expect(index.has(key(999_999))).toBe(true)
    expect(index.has(key(1_000_001))).toBe(false)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20)
  })
})
