import { expect, test } from 'vitest'
import type { DeliveryOutcome } from '#shared/ports/deliveries.ts'
import { standIn } from '#test/support/stand-in.ts'
import { createOutcomeRecorder } from './send.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

function outcome(index: number): DeliveryOutcome {
  const attempt = {
    number: 1,
    at: 0,
    durationMs: 1,
    statusCode: 200,
    error: null,
    ip: null,
    phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    responseBody: '',
  }
  return { deliveryId: `whd_${index}`, leaseToken: 't', result: 'succeeded', retryAfterMs: null, attempt }
}

/** A recorder whose time stands still until `tick`, on a store that fails as often as told. */
function given(failures = 0) {
  const batches: number[] = []
  const delays: number[] = []
  const counted: Record<string, number> = {}
  let timers: (() => void)[] = []
  const pauses: (number | null)[] = []
  const time = { now: 5 }
  let left = failures
  const recorder = createOutcomeRecorder({
    deliveries: standIn({
      finish: async (outcomes) => {
        batches.push(outcomes.length)
        pauses.push(...outcomes.map(({ retryAfterMs }) => retryAfterMs))
        if (left === 0) return
        left -= 1
        throw new Error('the store is away')
      },
    }),
    after: (delayMs, run) => {
      delays.push(delayMs)
      timers.push(run)
      return () => {
        timers = timers.filter((timer) => timer !== run)
      }
    },
    stopwatch: () => time.now,
    logger: silent,
    metrics: {
      count: (name, _labels, by = 1) => {
        counted[name] = (counted[name] ?? 0) + by
      },
      gauge() {},
      observe() {},
    },
  })
  const tick = async (): Promise<void> => {
    const due = timers
    timers = []
    for (const run of due) run()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { recorder, batches, delays, counted, pauses, time, tick }
}

test('outcomes that come close together are one write', async () => {
  const { recorder, batches, delays, tick } = given()
  const done = Promise.all([0, 1, 2].map((index) => recorder.record(outcome(index))))
  expect(batches).toEqual([])
  await tick()
  expect(await done).toEqual([true, true, true])
  expect(batches).toEqual([3])
  expect(delays).toEqual([40])
})

test('a full batch does not wait', async () => {
  const { recorder, batches, tick } = given()
  const done = Promise.all(Array.from({ length: 40 }, (_, index) => recorder.record(outcome(index))))
  expect(batches).toEqual([32])
  // The rest waits for the write before it, and then for company.
  await new Promise((resolve) => setImmediate(resolve))
  await tick()
  await done
  expect(batches).toEqual([32, 8])
})

test('a failed write is tried again until it succeeds', async () => {
  const { recorder, batches, tick } = given(2)
  const done = recorder.record(outcome(0))
  await tick()
  await tick()
  await tick()
  expect(await done).toBe(true)
  expect(batches).toEqual([1, 1, 1])
})

test('an outcome that cannot be written is given up within the lease and counted', async () => {
  const { recorder, delays, counted, tick } = given(99)
  const done = recorder.record(outcome(0))
  for (let round = 0; round < 4; round += 1) await tick()
  expect(await done).toBe(false)
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeLessThan(10_000)
  expect(counted).toEqual({ webhook_outcomes_lost_total: 1 })
})

// Guarantee: the schedule counts from the end of the attempt, so that a store that was away makes no retry late.
test('a pause is shorter by the time that passed before the outcome was written', async () => {
  const { recorder, pauses, time, tick } = given(1)
  const retry = (index: number, retryAfterMs: number) => ({ ...outcome(index), result: 'retry' as const, retryAfterMs })
  const done = Promise.all([recorder.record(retry(0, 60_000)), recorder.record(retry(1, 0))])
  time.now += 40.4
  await tick()
  time.now += 2_000
  await tick()
  await done
  expect(pauses).toEqual([59_960, -40, 57_960, -2_040])
})
