import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { HASH_BYTES } from '#shared/ports/watch-packs.ts'
import { createBloomFilter } from './bloom-filter.ts'
import { createPackFilter } from './cold-watches.ts'
import { createWatchHasher } from './watch-hash.ts'

const KEYS = 100_000
const address = () => randomBytes(20).toString('hex')

/** A pack of these keys under a salt. */
function packOf(keys: readonly string[], salt: Uint8Array) {
  const hasher = createWatchHasher(salt)
  const hashes = new Uint8Array(keys.length * HASH_BYTES)
  const view = new DataView(hashes.buffer)
  for (const [at, key] of keys.entries()) {
    hasher.hash(key)
    view.setUint32(at * HASH_BYTES, hasher.low, true)
    view.setUint32(at * HASH_BYTES + 4, hasher.high, true)
  }
  return { seq: 0, count: keys.length, salt, hashes }
}

// Guarantee: no key that was added is ever denied; strangers are taken for one of them about once in a thousand.
it('never denies a key that was added, and takes few strangers for one', () => {
  const keys = Array.from({ length: KEYS }, address)
  const filter = createPackFilter()
  filter.expect(KEYS)
  expect(filter.take(packOf(keys, randomBytes(8)), 0)).toBe(true)
  expect(keys.filter((key) => !filter.has(key))).toEqual([])
  const strangers = Array.from({ length: KEYS }, address).filter(filter.has).length
  expect(strangers).toBeLessThan(KEYS / 500)
})

it('grows in layers beyond what was announced, and denies nothing', () => {
  const keys = Array.from({ length: KEYS }, address)
  const salt = randomBytes(8)
  const filter = createPackFilter()
  for (let from = 0; from < KEYS; from += KEYS / 10) {
    const some = keys.slice(0, from + KEYS / 10)
    expect(filter.take(packOf(some, salt), from)).toBe(true)
  }
  expect(filter.size).toBe(KEYS)
  expect(keys.filter((key) => !filter.has(key))).toEqual([])
})

it('takes no pack of another salt or with missing bytes', () => {
  const salt = randomBytes(8)
  const filter = createPackFilter()
  const pack = packOf(['ab', 'cd'], salt)
  expect(filter.take({ ...pack, count: 3 }, 0)).toBe(false)
  expect(filter.take({ ...pack, hashes: pack.hashes.subarray(1) }, 0)).toBe(false)
  expect(filter.take(pack, 0)).toBe(true)
  expect(filter.take(packOf(['ef'], randomBytes(8)), 0)).toBe(false)
  expect([filter.size, filter.has('ab'), filter.has('cd')]).toEqual([2, true, true])
})

// Guarantee: who knows every address of ours and this code, but not the salt, cannot choose addresses that the filter takes for ours.
it('a hostile payer who searches for false positives finds none more often than by chance', () => {
  const ours = Array.from({ length: KEYS }, address)
  const [real, guessed] = [createPackFilter(), createPackFilter()]
  for (const filter of [real, guessed]) {
    filter.expect(KEYS)
    filter.take(packOf(ours, randomBytes(8)), 0)
  }
  const chosen: string[] = []
  for (let tried = 0; tried < 2_000_000 && chosen.length < 1_000; tried += 1) {
    const key = `${tried.toString(16).padStart(40, '0')}`
    if (guessed.has(key)) chosen.push(key)
  }
  expect(chosen.length).toBeGreaterThan(50)
  expect(chosen.filter(real.has).length).toBeLessThanOrEqual(Math.max(5, chosen.length / 100))
})

it('counts its room', () => {
  const filter = createBloomFilter(2)
  filter.add(1, 2)
  expect([filter.room, filter.has(1, 2), filter.has(2, 1)]).toEqual([1, true, false])
})
