import { expect, it } from 'vitest'
import { createRandom } from './random.ts'

it('gives UUIDs of version 7 that carry the time', () => {
  const id = createRandom(() => 0x0192_3456_789a).uuid()
  expect(id).toMatch(/^01923456-789a-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

it('sorts by creation and never repeats, within a millisecond, over its end and when the clock steps back', () => {
  let now = 1_000_000
  const random = createRandom(() => now)
  const ids: string[] = []
  for (let step = 0; step < 20_000; step += 1) {
    if (step === 12_000) now += 5
    if (step === 15_000) now -= 3
    ids.push(random.uuid())
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect([...ids].sort()).toEqual(ids)
})

it('gives as many bytes as asked for', () => {
  const random = createRandom(Date.now)
  expect(random.bytes(32)).toHaveLength(32)
  expect(random.bytes(32)).not.toEqual(random.bytes(32))
})
