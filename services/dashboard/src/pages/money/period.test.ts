import { describe, expect, it } from 'vitest'
import { PERIOD_FILTERS, readPeriod } from './period.ts'

const NOW = Date.UTC(2026, 10, 19, 15, 30, 20)
const DAY_MS = 86_400_000
const dates = (since: string, until: string) => ({ period: 'dates', since, until })

describe('the period of a list', () => {
  it('has no bounds unless one is chosen', () => {
    expect(readPeriod(PERIOD_FILTERS, NOW, 'local')).toEqual({ from: null, to: null, problem: null })
    expect(readPeriod({ ...PERIOD_FILTERS, period: 'gone' }, NOW, 'utc')).toEqual({
      from: null,
      to: null,
      problem: null,
    })
  })

  it('takes in both days that were entered', () => {
    expect(readPeriod(dates('2026-11-01', '2026-11-19'), NOW, 'utc')).toEqual({
      ...{ from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 20), problem: null },
    })
    const local = readPeriod(dates('2026-11-19', '2026-11-19'), NOW, 'local')
    expect([local.from, local.to]).toEqual([new Date(2026, 10, 19).getTime(), new Date(2026, 10, 20).getTime()])
    expect(readPeriod(dates('', '2026-11-19'), NOW, 'utc').from).toBeNull()
    expect(readPeriod(dates('2026-11-19', ''), NOW, 'utc').to).toBeNull()
    expect(readPeriod(dates('yesterday', '2026-13'), NOW, 'utc')).toEqual({ from: null, to: null, problem: null })
  })

  it('says that days are in the wrong order, and does not turn them round', () => {
    expect(readPeriod(dates('2026-11-19', '2026-11-01'), NOW, 'utc')).toMatchObject({ from: null, to: null })
    expect(readPeriod(dates('2026-11-19', '2026-11-01'), NOW, 'utc').problem).toMatch(/first day/)
  })

  it('counts whole days back in UTC, and hours on the clock of the operator', () => {
    expect(readPeriod({ ...PERIOD_FILTERS, period: '1' }, NOW, 'utc').from).toBe(Date.UTC(2026, 10, 19))
    expect(readPeriod({ ...PERIOD_FILTERS, period: '7' }, NOW, 'utc').from).toBe(Date.UTC(2026, 10, 13))
    expect(readPeriod({ ...PERIOD_FILTERS, period: '1' }, NOW, 'local').from).toBe(NOW - 20_000 - DAY_MS)
  })
})
