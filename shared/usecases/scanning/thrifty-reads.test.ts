import { describe, expect, it } from 'vitest'
import { requestByAge } from './thrifty-reads.ts'

/** So many accounts, oldest first, of which the first `gone` ones are impossible. */
async function requested(count: number, gone: number, isSpent = false) {
  const requests: (readonly number[])[] = []
  const found = await requestByAge(
    Array.from({ length: count }, (_, index) => index),
    async (part) => {
      requests.push(part)
      if ((part[0] ?? 0) < gone) return 'impossible'
      return isSpent ? 'spent' : 'done'
    },
  )
  return { found, requests }
}

describe('a question about accounts of every age', () => {
  it('is put once where it is possible for all', async () => {
    expect(await requested(100, 0)).toMatchObject({ found: [], requests: { length: 1 } })
    expect(await requested(0, 0)).toEqual({ found: [], requests: [] })
  })

  // Guarantee: the oldest account decides for no younger one, and the number of questions does not grow with that of the accounts.
  it('leaves out exactly those for which it is impossible, in few questions', async () => {
    for (let gone = 1; gone <= 100; gone += 1) {
      const { found, requests } = await requested(100, gone)
      expect(found).toEqual(Array.from({ length: gone }, (_, index) => index))
      expect(requests.length).toBeLessThanOrEqual(8)
    }
  })

  it('ends where the budget of a step is used up', async () => {
    expect(await requested(4, 1, true)).toEqual({
      found: 'spent',
      requests: [
        [0, 1, 2, 3],
        [2, 3],
      ],
    })
  })
})
