import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createByteGate, type Holding } from './byte-gate.ts'

const KB = 2 ** 10
const MAX = 1_000 * KB

/** Lets promises that can resolve do so. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('createByteGate', () => {
  it('never holds more than its bound, unless by one holder alone, and lets everyone in', async () => {
    // Guarantee: a scanner that catches up on many networks of large blocks needs no more memory than one.
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 65, max: 1_500 }), { minLength: 1, maxLength: 60 }),
        async (sizes) => {
          const gate = createByteGate(MAX)
          const inside = new Map<number, Holding>()
          const order: number[] = []
          const entered = sizes.map(async (kilobytes, index) => {
            inside.set(index, await gate.enter(kilobytes * KB))
            order.push(index)
          })
          while (order.length < sizes.length || inside.size > 0) {
            await turn()
            const held = [...inside.keys()].reduce((sum, index) => sum + (sizes[index] ?? 0) * KB, 0)
            expect(held <= MAX || inside.size === 1).toBe(true)
            const [oldest] = inside
            expect(oldest).toBeDefined()
            oldest?.[1].leave()
            inside.delete(oldest?.[0] ?? -1)
          }
          await Promise.all(entered)
          expect(order).toEqual(sizes.map((_, index) => index))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('makes others wait for what turned out larger than expected', async () => {
    const gate = createByteGate(MAX)
    const first = await gate.enter(100 * KB)
    first.resize(MAX)
    let second: Holding | null = null
    void gate.enter(100 * KB).then((holding) => {
      second = holding
    })
    await turn()
    expect(second).toBeNull()
    first.resize(900 * KB)
    await turn()
    expect(second).not.toBeNull()
  })

  it('lets small holders pass whoever waits', async () => {
    const gate = createByteGate(MAX)
    const whole = await gate.enter(2 * MAX)
    let large = false
    void gate.enter(2 * MAX).then(() => {
      large = true
    })
    await gate.enter(64 * KB)
    expect(large).toBe(false)
    whole.leave()
    whole.leave()
    await turn()
    expect(large).toBe(true)
  })

  describe('a slow holder', () => {
    async function slowOf(gate: ReturnType<typeof createByteGate>, bytes: number) {
      const holding = await gate.enter(MAX / 2)
      let ended = 0
      holding.resizeSlow(bytes, () => {
        ended += 1
      })
      return { holding, ended: () => ended }
    }

    it('leaves what it does not use to others, and stays where they fit', async () => {
      const gate = createByteGate(MAX)
      const { ended } = await slowOf(gate, 100 * KB)
      await gate.enter(900 * KB)
      expect(ended()).toBe(0)
    })

    it('gives way, once, to one that does not fit', async () => {
      const gate = createByteGate(MAX)
      const { holding, ended } = await slowOf(gate, 100 * KB)
      await gate.enter(2 * MAX)
      expect(ended()).toBe(1)
      holding.leave()
      expect(ended()).toBe(1)
    })

    it('gives way to one that waited before it became slow', async () => {
      const gate = createByteGate(MAX)
      const holding = await gate.enter(MAX)
      const next = gate.enter(MAX)
      let ended = 0
      holding.resizeSlow(MAX / 2, () => {
        ended += 1
      })
      await next
      expect(ended).toBe(1)
    })

    it('gives way where it grows beyond the bound beside others, and not alone', async () => {
      const gate = createByteGate(MAX)
      const { holding, ended } = await slowOf(gate, 100 * KB)
      holding.resize(2 * MAX)
      expect(ended()).toBe(0)
      holding.resize(100 * KB)
      await gate.enter(800 * KB)
      holding.resize(200 * KB)
      expect(ended()).toBe(0)
      holding.resize(300 * KB)
      expect(ended()).toBe(1)
    })

    it('is one like the others after it has entered again', async () => {
      const gate = createByteGate(MAX)
      const { holding, ended } = await slowOf(gate, 100 * KB)
      await holding.reenter(MAX)
      let isIn = false
      void gate.enter(MAX).then(() => {
        isIn = true
      })
      await turn()
      expect([isIn, ended()]).toEqual([false, 0])
    })
  })
})
