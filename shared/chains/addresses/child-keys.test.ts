import { HDKey } from '@scure/bip32'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { childKeys } from './child-keys.ts'

const LAST = 0x7fff_ffff

/** A public key with a chain code, as an extended public key gives it. */
const parents = fc
  .uint8Array({ minLength: 16, maxLength: 64 })
  .map((seed) => HDKey.fromExtendedKey(HDKey.fromMasterSeed(seed).publicExtendedKey))

// Guarantee: an address belongs to the key that the merchant's wallet derives for it.
it('are those that the library derives one by one, at every index', () => {
  fc.assert(
    fc.property(parents, fc.integer({ min: 0, max: LAST - 3 }), (parent, from) => {
      const one = Array.from({ length: 4 }, (_, offset) => parent.deriveChild(from + offset).publicKey)
      expect(childKeys(parent, { from, count: 4, isCompressed: true })).toEqual(one)
    }),
    { numRuns: 50 },
  )
})

it('are the same points when they are not compressed', () => {
  const parent = HDKey.fromMasterSeed(new Uint8Array(32).fill(3))
  const short = childKeys(parent, { from: 7, count: 3, isCompressed: true })
  const long = childKeys(parent, { from: 7, count: 3, isCompressed: false })
  expect(long.map((key) => [key[0], key.length])).toEqual(Array(3).fill([4, 65]))
  for (const [at, key] of long.entries()) {
    expect(key.subarray(1, 33)).toEqual(short[at]?.subarray(1))
    expect((key[64] ?? 0) % 2).toBe((short[at]?.[0] ?? 0) - 2)
  }
})

it('end before the indexes that need a private key, and are none for none', () => {
  const parent = HDKey.fromExtendedKey(HDKey.fromMasterSeed(new Uint8Array(32).fill(5)).publicExtendedKey)
  expect(childKeys(parent, { from: 0, count: 0, isCompressed: true })).toEqual([])
  expect(childKeys(parent, { from: LAST, count: 1, isCompressed: true })).toHaveLength(1)
  expect(() => childKeys(parent, { from: LAST, count: 2, isCompressed: true })).toThrow()
  for (const from of [-1, 1.5, Number.NaN])
    expect(() => childKeys(parent, { from, count: 1, isCompressed: true })).toThrow()
})

// A hostile tenant can add any extended public key: one below which BIP 32 has no children gets none.
it('end at the greatest depth', () => {
  const parent = HDKey.fromMasterSeed(new Uint8Array(32).fill(9))
  const at = (depth: number) =>
    new HDKey({
      publicKey: parent.publicKey,
      chainCode: parent.chainCode,
      depth,
      index: 0,
      parentFingerprint: 1,
    } as never)
  expect(childKeys(at(254), { from: 0, count: 1, isCompressed: true })).toHaveLength(1)
  expect(() => childKeys(at(255), { from: 0, count: 1, isCompressed: true })).toThrow('255')
})
