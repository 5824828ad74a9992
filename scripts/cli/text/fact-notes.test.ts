import { expect, it } from 'vitest'
import { factsText, factWarnings } from './fact-notes.ts'

const fact = (isOff: boolean) => ({ fact: 'finality', unit: 'ms', row: 960_000, measured: 150, isOff }) as const
const row = (isOld: boolean) => ({ on: '2026-11-28', source: 'somewhere', isOld })
const NONE = { fact: 'finality', unit: 'ms', row: null, measured: null, isOff: false } as const

it('says what was measured beside the row, and nothing of what the network does not have', () => {
  expect(factsText({ facts: [fact(false)] })).toBe('finality 0.15 s (row 16 min)')
  expect(factsText({ facts: [NONE] })).toBe('')
})

// Guarantee: a row that nobody compared for half a year is named, and no test of ours fails by the calendar for it.
it('names a row that is old', () => {
  const warnings = (isOld: boolean) => factWarnings({ mode: 'live', facts: [fact(false)], row: row(isOld) })
  expect(warnings(false)).toEqual([])
  expect(warnings(true)).toEqual([expect.stringContaining('last compared on 2026-11-28, more than 180 days ago')])
})

it('warns of the pace of live networks alone: a test network may be a local chain', () => {
  const warnings = (mode: 'live' | 'test') => factWarnings({ mode, facts: [fact(true)], row: row(false) })
  expect(warnings('live')).toHaveLength(1)
  expect(warnings('test')).toEqual([])
})
