import { describe, expect, it } from 'vitest'
import { PERIOD_FILTERS, readPeriod } from './period.ts'

const NOW = Date.UTC(2026, 10, 19, 15, 30, 20)
const DAY_MS = 86_400_000
const dates = (since: string, until: string) => ({ period: 'dates', since, until })

describe('the period of a list', () => {
  it('has no bounds unless one is chosen', () => {
    expect(readPeriod(PERIOD_FILTERS, NOW, 'UTC')).toEqual({ from: null, to: null, problem: null })
    expect(readPeriod({ ...PERIOD_FILTERS, period: 'gone' }, NOW, 'UTC')).toEqual({
      from: null,
      to: null,
      problem: null,
    })
  })

  it('takes in both days that were entered', () => {
    expect(readPeriod(dates('2026-11-01', '2026-11-19'), NOW, 'UTC')).toEqual({
      ...{ from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 20), problem: null },
    })
    const local = readPeriod(dates('2026-11-19', '2026-11-19'), NOW, 'America/Bogota')
    expect([local.from, local.to]).toEqual([Date.UTC(2026, 10, 19, 5), Date.UTC(2026, 10, 20, 5)])
    expect(readPeriod(dates('', '2026-11-19'), NOW, 'UTC').from).toBeNull()
    expect(readPeriod(dates('2026-11-19', ''), NOW, 'UTC').to).toBeNull()
    expect(readPeriod(dates('yesterday', '2026-13'), NOW, 'UTC')).toEqual({ from: null, to: null, problem: null })
  })

  it('says that days are in the wrong order, and does not turn them round', () => {
    expect(readPeriod(dates('2026-11-19', '2026-11-01'), NOW, 'UTC')).toMatchObject({ from: null, to: null })
    expect(readPeriod(dates('2026-11-19', '2026-11-01'), NOW, 'UTC').problem).toMatch(/first day/)
  })

  it('counts hours back from now', () => {
    expect(readPeriod({ ...PERIOD_FILTERS, period: '1' }, NOW, 'UTC').from).toBe(NOW - 20_000 - DAY_MS)
    expect(readPeriod({ ...PERIOD_FILTERS, period: '7' }, NOW, 'UTC').from).toBe(NOW - 20_000 - 7 * DAY_MS)
  })

  // Guarantee: a month is that of the workspace, whatever browser asks for it, and has the hour that a change of the clock takes or gives.
  it('has the months of the zone', () => {
    const month = (period: string, now: number, zone: string) => {
      const { from, to } = readPeriod({ ...PERIOD_FILTERS, period }, now, zone)
      return [from, to]
    }
    expect(month('month', NOW, 'UTC')).toEqual([Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)])
    expect(month('last', NOW, 'Europe/Berlin')).toEqual([Date.UTC(2026, 8, 30, 22), Date.UTC(2026, 9, 31, 23)])
    expect(month('last', Date.UTC(2026, 0, 1, 3), 'America/Bogota')).toEqual([
      ...[Date.UTC(2025, 10, 1, 5), Date.UTC(2025, 11, 1, 5)],
    ])
  })
})
