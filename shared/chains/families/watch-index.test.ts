import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleOf } from '#test/support/depth.ts'
import { createWatchIndex } from './watch-index.ts'

const digit = fc.constantFrom(...'0123456789abcdef')
const hexOf = (length: number) => fc.array(digit, { minLength: length, maxLength: length }).map((d) => d.join(''))
const hexKey = fc.oneof(...[40, 44, 46, 50, 64, 68].map(hexOf))

describe('createWatchIndex', () => {
  it('answers exactly like a set, for keys of every length', () => {
    // Guarantee: no address is ever taken for another, and none is forgotten.
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            hexKey,
            fc.constantFrom(
              '0'.repeat(40),
              '0014ab',
              '0014ab0',
              '0',
              '',
              `${'0'.repeat(39)}1`,
              `${'A'.repeat(40)}`,
              'f'.repeat(90),
            ),
          ),
          {
            maxLength: 3000,
          },
        ),
        fc.array(hexKey, { maxLength: 50 }),
        (keys, probes) => {
          const index = createWatchIndex()
          const model = new Set(keys)
          for (const key of keys) index.add(key)
          expect(index.size).toBe(model.size)
          expect([...keys, ...probes].filter((key) => index.has(key) !== model.has(key))).toEqual([])
        },
      ),
      { numRuns: 100 },
    )
  })

  it.each(sampleOf([40, 64, 68], 1))(
    'holds a million addresses of %i digits in less than 100 MB',
    (digits) => {
      const before = process.memoryUsage().arrayBuffers
      const index = createWatchIndex()
      const key = (n: number) =>
        (BigInt(n) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).padStart(digits, '0').slice(-digits)
      for (let n = 1; n <= 1_000_000; n += 1) index.add(key(n))
      expect(index.size).toBe(1_000_000)
      expect(index.has(key(999_999))).toBe(true)
      expect(index.has(key(1_000_001))).toBe(false)
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20)
      // A second on an idle machine; one that is busy with other things may take many.
    },
    60_000,
  )
})
