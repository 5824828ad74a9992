import { describe, expect, test } from 'vitest'
import { classifyEndpointHealth, type EndpointHealthFacts, type TriedDelivery } from './endpoint-health.ts'

const NOW = 1_000_000
const ok = (at: number, attempt = 1): TriedDelivery => ({
  ...{ status: 'succeeded', attempt, createdAt: at, finishedAt: at + 1 },
})
const retrying = (at: number, attempt = 1): TriedDelivery => ({
  ...{ status: 'pending', attempt, createdAt: at, finishedAt: null },
})
const failed = (at: number): TriedDelivery => ({ status: 'failed', attempt: 9, createdAt: at, finishedAt: at + 500 })
const many = (count: number, make: (at: number) => TriedDelivery, from = 1_000) =>
  Array.from({ length: count }, (_, index) => make(from + index))

/** Rows in any order, as the store gives them: newest first. */
function evaluate(rows: readonly TriedDelivery[], more: Partial<EndpointHealthFacts> = {}) {
  const tried = [...rows].sort((left, right) => right.createdAt - left.createdAt)
  const waiting = rows.filter(({ status }) => status === 'pending').length
  return classifyEndpointHealth(
    { isPaused: false, tried, retrying: waiting, oldestDueAt: null, lastSuccessAt: null, ...more },
    NOW,
  )
}

describe('the state of an endpoint', () => {
  test('is no data before the first attempt, however many wait', () => {
    expect(evaluate([], { oldestDueAt: 1 }).state).toBe('no_data')
  })

  test('is paused when an operator switched it off, whatever happened before', () => {
    expect(evaluate(many(9, failed), { isPaused: true }).state).toBe('paused')
  })

  test('is healthy when first attempts arrive', () => {
    expect(evaluate(many(100, ok))).toMatchObject({ state: 'healthy', tried: 100, firstTry: 100, failedAttempts: 0 })
    expect(evaluate([ok(1)]).state).toBe('healthy')
  })

  // Guarantee: what is still being retried counts. This endpoint was "Healthy, 100 %".
  test('an endpoint that refuses two of three calls is never healthy, although all that is over arrived', () => {
    const rows = many(99, (at) => (at % 3 === 0 ? ok(at) : retrying(at)))
    const seen = evaluate(rows)
    expect(seen.state).toBe('failing')
    expect(seen).toMatchObject({ tried: 99, delivered: 33, firstTry: 33, attempts: 99, failedAttempts: 66 })
    const later = evaluate(many(99, (at) => ok(at, at % 3 === 0 ? 1 : 3)))
    expect(later).toMatchObject({ state: 'degraded', delivered: 99, firstTry: 33, attempts: 231, failedAttempts: 132 })
  })

  test('one delivery that waits for another attempt degrades it until it arrived', () => {
    expect(evaluate([...many(50, ok), retrying(10)]).state).toBe('degraded')
    expect(evaluate([...many(50, ok), ok(10, 2)]).state).toBe('healthy')
  })

  test('a delivery that was given up degrades it while it is among the latest twenty', () => {
    expect(evaluate([...many(10, ok), failed(1_500), ...many(10, ok, 2_000)]).state).toBe('degraded')
    expect(evaluate([failed(100), ...many(20, ok, 2_000)]).state).toBe('healthy')
  })

  test('is failing when three in a row brought nothing, or nothing ever arrived', () => {
    expect(evaluate([...many(90, ok), ...many(3, retrying, 50_000)]).state).toBe('failing')
    expect(evaluate([...many(90, ok), ...many(2, retrying, 50_000)]).state).toBe('degraded')
    expect(evaluate([retrying(5)]).state).toBe('failing')
  })

  test('an arrival before the latest hundred counts as one', () => {
    const seen = evaluate(many(2, retrying, 50_000), { lastSuccessAt: 40_000 })
    expect(seen).toMatchObject({ lastSuccessAt: 40_000, sinceSuccess: 2 })
  })

  test('a repaired endpoint whose backlog has arrived is healthy after twenty good first attempts', () => {
    const backlog = many(80, (at) => ok(at, 4))
    expect(evaluate([...backlog, ...many(19, ok, 50_000)]).state).toBe('healthy')
    expect(evaluate([...backlog, ...many(18, ok, 50_000)]).state).toBe('degraded')
  })

  test('is degraded when something due waits for more than a minute', () => {
    expect(evaluate(many(50, ok), { oldestDueAt: NOW - 60_000 }).state).toBe('healthy')
    expect(evaluate(many(50, ok), { oldestDueAt: NOW - 60_001 }).state).toBe('degraded')
  })
})
