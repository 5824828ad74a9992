import { describe, expect, it } from 'vitest'
import { createClaimStock, type FreeClaim } from './claim-stock.ts'

const clock = { now: () => 1_000_000 }

/** Searches that return `each` of `total` claims which nobody was offered, after their own step. */
const searchesOf =
  (total: number, each: number) =>
  async (isOffered: (claim: string) => boolean): Promise<readonly FreeClaim[]> => {
    await new Promise((resolve) => setImmediate(resolve))
    const all = Array.from({ length: total }, (_, index) => ({ claim: `claim-${index}` }))
    return all.filter(({ claim }) => !isOffered(claim)).slice(0, each)
  }

describe('many callers of one stock', () => {
  // Guarantee: a payer is not refused while an address or amount is free, however many ask at once.
  it.each([1, 2, 16, 99])('all get a candidate when a search finds %i of them', async (each) => {
    const stock = createClaimStock(clock)
    const callers = Math.min(200, each * 10)
    const taken = await Promise.all(Array.from({ length: callers }, () => stock.take('key', searchesOf(callers, each))))
    expect(taken.filter((one) => one === null)).toEqual([])
    expect(new Set(taken.map((one) => one?.claim)).size).toBe(callers)
  })

  it('none gets what another one was offered, and those behind the last one get nothing', async () => {
    const stock = createClaimStock(clock)
    const taken = await Promise.all(Array.from({ length: 20 }, () => stock.take('key', searchesOf(12, 5))))
    expect(new Set(taken.filter((one) => one !== null).map((one) => one?.claim)).size).toBe(12)
    expect(taken.filter((one) => one === null)).toHaveLength(8)
    expect(await stock.has('key', searchesOf(12, 5))).toBe(false)
  })
})
