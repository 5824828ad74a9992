import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stackBars } from './stack-bars.ts'

const SIZE = { width: 700, height: 200 }

describe('stacked bars', () => {
  it('stacks the series of a day on each other, in proportion', () => {
    const { parts, ticks } = stackBars(
      [
        ['10', '0'],
        ['30.00', '20'],
      ],
      2,
      SIZE,
    )
    expect(ticks.map(({ value }) => value)).toEqual([0, 10, 20, 30, 40])
    expect(parts.map(({ series, y, height }) => [series, y, height])).toEqual([
      [0, 150, 50],
      [1, 0, 150],
      [1, 100, 100],
    ])
  })

  it('draws grid lines and no bar where nothing was paid', () => {
    const { parts, ticks } = stackBars([['0.00', '0.00']], 2, SIZE)
    expect(parts).toEqual([])
    expect(ticks.map(({ value, y }) => [value, y])).toEqual([0, 1, 2, 3, 4].map((value) => [value, 200 - value * 50]))
    expect(stackBars([], 0, SIZE).parts).toEqual([])
  })

  it('labels as many days as have room, the first always', () => {
    const labelled = (width: number) => stackBars([Array<string>(30).fill('1')], 30, { width, height: 200 }).labels
    expect(labelled(3_000)).toHaveLength(30)
    expect(labelled(700).map(({ day }) => day)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27])
    expect(labelled(0).map(({ day }) => day)).toEqual([0])
  })

  it('keeps every bar inside the plot, apart from the next day, whatever the amounts', () => {
    const amount = fc.tuple(fc.integer({ min: 0, max: 999_999_999 }), fc.integer({ min: 0, max: 99 }))
    const text = amount.map(([whole, cents]) => `${whole}.${String(cents).padStart(2, '0')}`)
    const series = fc.array(fc.array(text, { minLength: 7, maxLength: 7 }), { maxLength: 4 })
    fc.assert(
      fc.property(series, (amounts) => {
        const { parts, ticks } = stackBars(amounts, 7, SIZE)
        expect(ticks.at(-1)?.y).toBeCloseTo(0, 6)
        for (const { x, y, width, height } of parts) {
          expect(Math.floor(x / 100)).toBe(Math.floor((x + width) / 100))
          expect(y).toBeGreaterThan(-1e-6)
          expect(y + height).toBeLessThan(SIZE.height + 1e-6)
        }
      }),
    )
  })
})
