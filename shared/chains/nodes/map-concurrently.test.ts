import { expect, it } from 'vitest'
import { mapConcurrently } from './map-concurrently.ts'

const items = Array.from({ length: 100 }, (_, index) => index)

it('gives results in the order of the items, with as many calls at a time as are allowed', async () => {
  let running = 0
  let most = 0
  const results = await mapConcurrently(items, 4, async (item) => {
    running += 1
    most = Math.max(most, running)
    await Promise.resolve()
    running -= 1
    return item * 2
  })
  expect(results).toEqual(items.map((item) => item * 2))
  expect(most).toBe(4)
})

// Guarantee: a block of 5,000 transactions of which one is missing asks a node for no more than a few of the others.
it('begins no further call after one failed', async () => {
  const begun: number[] = []
  const mapped = mapConcurrently(items, 4, async (item) => {
    begun.push(item)
    await Promise.resolve()
    if (item === 5) throw new Error('broke')
  })
  await expect(mapped).rejects.toThrow('broke')
  const { length } = begun
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toHaveLength(length)
  expect(length).toBeLessThan(12)
})
