import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLowWaterMarks } from './outbox-memory.ts'

const MARGIN_MS = 5_000

describe('where reads of waiting work begin', () => {
  it('begins at the front as long as one of the keys is unknown or nothing was ever seen', () => {
    const lowWaterMarks = createLowWaterMarks<string>()
    expect(lowWaterMarks.begin(['a']).from).toBeNull()
    lowWaterMarks.saw(lowWaterMarks.begin(['a']), 'a', [])
    expect(lowWaterMarks.begin(['a']).from).toBeNull()
    lowWaterMarks.saw(lowWaterMarks.begin(['a']), 'a', [7_000])
    expect(lowWaterMarks.begin(['a']).from).toBe(2_000)
    expect(lowWaterMarks.begin(['a', 'b']).from).toBeNull()
  })

  it('begins a margin before the oldest that was found, or before the newest ever seen when nothing was', () => {
    const lowWaterMarks = createLowWaterMarks<string>()
    lowWaterMarks.saw(lowWaterMarks.begin(['a', 'b']), 'a', [800_000, 900_000])
    expect(lowWaterMarks.begin(['a']).from).toBe(800_000 - MARGIN_MS)
    lowWaterMarks.saw(lowWaterMarks.begin(['a']), 'a', [])
    expect(lowWaterMarks.begin(['a']).from).toBe(900_000 - MARGIN_MS)
    lowWaterMarks.saw(lowWaterMarks.begin(['b']), 'b', [700_000])
    expect(lowWaterMarks.begin(['a', 'b']).from).toBe(700_000 - MARGIN_MS)
  })

  // Guarantee: what a sweep found is found by the next read, whatever reads are on their way.
  it('raises nothing by a read that began before a sweep lowered the floor', () => {
    const lowWaterMarks = createLowWaterMarks<string>()
    lowWaterMarks.saw(lowWaterMarks.begin(['a']), 'a', [900_000])
    const before = lowWaterMarks.begin(['a'])
    lowWaterMarks.lower('a', 10)
    lowWaterMarks.saw(before, 'a', [])
    expect(lowWaterMarks.begin(['a']).from).toBe(10)
    lowWaterMarks.saw(lowWaterMarks.begin(['a']), 'a', [])
    expect(lowWaterMarks.begin(['a']).from).toBe(900_000 - MARGIN_MS)
  })

  it('is not raised by a sweep', () => {
    const lowWaterMarks = createLowWaterMarks<string>()
    lowWaterMarks.saw(lowWaterMarks.begin(['a']), 'a', [50_000])
    lowWaterMarks.lower('a', 900_000)
    expect(lowWaterMarks.begin(['a']).from).toBe(50_000 - MARGIN_MS)
  })

  it('forgets everything rather than grow without end', () => {
    const lowWaterMarks = createLowWaterMarks<string>()
    for (let key = 0; key <= 10_000; key += 1) lowWaterMarks.saw(lowWaterMarks.begin([`k${key}`]), `k${key}`, [9_000])
    expect(lowWaterMarks.begin(['k1']).from).toBeNull()
    expect(lowWaterMarks.begin(['k10000']).from).toBe(4_000)
  })

  // Guarantee: no row waits for longer than a sweep because of a floor.
  it('never leaves out what waits once a sweep has looked, in any order of reads, rows and sweeps', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('write' as const), ago: fc.integer({ min: 0, max: 60_000 }) }),
      fc.record({ kind: fc.constant('begin' as const) }),
      fc.record({ kind: fc.constant('end' as const) }),
      fc.record({ kind: fc.constant('sweep' as const) }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
    )
    const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const lowWaterMarks = createLowWaterMarks<string>()
      let now = 1_000_000
      const rows = new Set<number>()
      const reads: { reading: ReturnType<typeof lowWaterMarks.begin>; seen: number[] }[] = []
      const visible = (from: number | null) => [...rows].filter((dueAt) => dueAt >= (from ?? -Infinity))
      for (const one of steps) {
        if (one.kind === 'write') rows.add(now - one.ago)
        if (one.kind === 'pass') now += one.ms
        if (one.kind === 'begin') {
          const reading = lowWaterMarks.begin(['a'])
          reads.push({ reading, seen: visible(reading.from) })
        }
        if (one.kind === 'end') {
          const read = reads.shift()
          if (read === undefined) continue
          lowWaterMarks.saw(
            read.reading,
            'a',
            [...read.seen].sort((a, b) => a - b),
          )
          for (const row of read.seen) rows.delete(row)
        }
        if (one.kind === 'sweep' && rows.size > 0) {
          const oldest = Math.min(...rows)
          lowWaterMarks.lower('a', oldest)
          // Not one that began before ends in between and hides the row again.
          for (const read of reads.splice(0)) lowWaterMarks.saw(read.reading, 'a', [])
          expect(visible(lowWaterMarks.begin(['a']).from)).toContain(oldest)
        }
      }
    })
    fc.assert(property, { numRuns: 500 })
  })
})
