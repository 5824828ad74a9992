import { expect, it } from 'vitest'
import { createWatchHasher } from './watch-hash.ts'

/** `vectors_hsip64` of github.com/veorq/SipHash: inputs are the first bytes of 00 01 02 …, the key is 00 … 07. */
const VECTORS = ['218d1f59b9b83cc8', 'be552412f8387315', '064f39ef7c50eb57', 'ce0f1a45f7060679']

const salt = Uint8Array.from({ length: 8 }, (_, at) => at)

function hashOf(key: string): string {
  const hasher = createWatchHasher(salt)
  hasher.hash(key)
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(hasher.low, 0)
  bytes.writeUInt32LE(hasher.high, 4)
  return bytes.toString('hex')
}

it('gives the hashes of the reference implementation', () => {
  const inputs = VECTORS.map((_, length) => String.fromCharCode(...Array.from({ length }, (__, at) => at)))
  expect(inputs.map(hashOf)).toEqual(VECTORS)
})

it('depends on its salt', () => {
  const one = createWatchHasher(salt)
  const other = createWatchHasher(salt.map((byte) => byte ^ 1))
  one.hash('ab')
  other.hash('ab')
  expect([one.low, one.high]).not.toEqual([other.low, other.high])
})

it('refuses a salt of another length', () => {
  expect(() => createWatchHasher(new Uint8Array(7))).toThrow('a salt has 8 bytes, not 7')
})
