import { describe, expect, it } from 'vitest'
import { summaryOf } from './against.ts'
import { scriptsIn, type WorkCounts, workPerItem } from './work-counts.ts'

const counts = (all: number): WorkCounts => ({
  commands: all,
  majorityWrites: all,
  journalSyncs: all,
  writeConflicts: all,
  queueScripts: all,
})

describe('workPerItem', () => {
  it('takes away what goes on anyway, then divides', () => {
    const first = { at: 1_000, ...counts(500) }
    const last = { at: 3_000, ...counts(640) }
    expect(workPerItem(first, last, counts(0.02), 10)).toEqual(counts(10))
  })
})

describe('scriptsIn', () => {
  it('counts scripts by name and by text, and nothing else', () => {
    const stats =
      'cmdstat_evalsha:calls=12,usec=1\r\ncmdstat_eval:calls=3,usec=1\r\ncmdstat_evalsha_ro:calls=9,usec=1\r\n'
    expect(scriptsIn(stats)).toBe(15)
    expect(scriptsIn('cmdstat_set:calls=7,usec=1\r\n')).toBe(0)
  })
})

describe('summaryOf', () => {
  it('replaces each figure of a line by the median of all rounds', () => {
    const line = 'p50 92.0 (92.0 to 92.0) ms, p99 178.0 (178.0 to 178.0) ms'
    const rounds = [
      [92, 178],
      [101.25, 336],
      [155, 200],
    ]
    expect(summaryOf(line, rounds)).toBe('p50 101.3 (92.0 to 155.0) ms, p99 200.0 (178.0 to 336.0) ms')
  })
})
