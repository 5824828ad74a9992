import { describe, expect, test } from 'vitest'
import {
  constant,
  jittery,
  mixed,
  queueing,
  type SimulatedReceiver,
  simulateSending,
} from '#test/support/simulated-receivers.ts'
import { createDeliveryCap } from './delivery-cap.ts'

const BOUNDS = { quick: 64, patient: 48, slow: 32 }

function capOf(processes = 1, highest = 64) {
  const cap = createDeliveryCap(() => processes, BOUNDS)
  cap.setHighest(highest)
  return cap
}

type Cap = ReturnType<typeof capOf>

/** Fills the cap, and answers all of it after `durationMs`; `times` times. Returns the time. */
function rounds(cap: Cap, times: number, durationMs: number, from = 0, error: string | null = null): number {
  let now = from
  for (let round = 0; round < times; round += 1) {
    const sent = cap.slots.free()
    cap.slots.take(sent)
    now += durationMs
    for (let answer = 0; answer < sent; answer += 1) {
      cap.slots.give(1)
      cap.record({ error, durationMs }, now)
    }
  }
  return now
}

describe('the table', () => {
  test('one request is in flight until the most of the endpoint is known, then four', () => {
    const cap = createDeliveryCap(() => 1, BOUNDS)
    expect(cap.limit()).toBe(1)
    cap.setHighest(64)
    expect(cap.limit()).toBe(4)
  })

  test.each([20, 700, 5_000])('start: doubles with each full round of %d ms, up to the most', (ms) => {
    const cap = capOf()
    const limits = Array.from({ length: 6 }, (_, at) => {
      rounds(cap, 1, ms, at * ms)
      return cap.limit()
    })
    const most = ms <= 1_000 ? 64 : 48
    expect(limits).toEqual([8, 16, 32, most, most, most])
  })

  test('start: rounds that are not full grow nothing', () => {
    const cap = capOf()
    for (let at = 0; at < 1_000; at += 1) {
      cap.slots.take(1)
      cap.slots.give(1)
      cap.record({ error: null, durationMs: 20 }, at * 50)
    }
    expect(cap.limit()).toBe(4)
  })

  test.each(['timeout', 'refused', 'reset', 'status_429', 'status_502', 'status_503', 'status_504'])(
    '%s halves once for all that was in flight, and ends the doubling',
    (error) => {
      const cap = capOf()
      let now = rounds(cap, 4, 100)
      now = rounds(cap, 1, 100, now, error)
      expect(cap.limit()).toBe(32)
      now = rounds(cap, 3, 100, now, error)
      expect(cap.limit()).toBe(4)
      now = rounds(cap, 5, 100, now)
      expect([cap.limit() > 4, cap.limit() <= 9]).toEqual([true, true])
      rounds(cap, 20, 100, now, error)
      expect(cap.limit()).toBe(1)
    },
  )

  test.each(['status_500', 'status_404', 'tls', 'bad_answer', 'blocked_address'])(
    '%s grows and lowers nothing',
    (error) => {
      const cap = capOf()
      const now = rounds(cap, 2, 100)
      rounds(cap, 50, 5, now, error)
      expect(cap.limit()).toBe(16)
      expect(cap.speed().latencyMs).toBe(100)
    },
  )

  test('nothing in flight forgets nothing', () => {
    const cap = capOf()
    rounds(cap, 4, 700)
    const before = cap.speed()
    expect(cap.isIdle(1e9)).toBe(true)
    rounds(cap, 1, 700, 1e9)
    expect(cap.speed()).toEqual(before)
  })

  test('an endpoint is slow for a minute after its last time-out', () => {
    const cap = capOf()
    expect(cap.isSlow(0)).toBe(false)
    cap.record({ error: 'timeout', durationMs: 10_000 }, 11_000)
    expect([cap.isSlow(11_000), cap.isSlow(70_999), cap.isSlow(71_000)]).toEqual([true, true, false])
    expect([cap.isIdle(70_999), cap.isIdle(71_000)]).toEqual([false, true])
  })

  test('the most of the endpoint counts at once, and in the slow lane that of the lane', () => {
    const cap = capOf()
    const now = rounds(cap, 6, 20)
    cap.setHighest(5)
    expect(cap.limit()).toBe(5)
    cap.setHighest(64)
    cap.record({ error: 'timeout', durationMs: 0 }, now)
    expect(cap.limit()).toBe(32)
  })

  test('several processes: half is for a turn out of the queue, the other half for the process that relays', () => {
    let processes = 1
    const cap = createDeliveryCap(() => processes, BOUNDS)
    cap.setHighest(64)
    rounds(cap, 6, 20)
    const places = [1, 2, 3, 5, 33, 0].map((count) => {
      processes = count
      return [cap.limit(), cap.ownRoom()]
    })
    expect(places).toEqual([
      [64, 64],
      [32, 32],
      [32, 32],
      [32, 32],
      [32, 32],
      [64, 64],
    ])
    processes = 2
    cap.slots.take(15)
    expect([cap.ownRoom(), cap.slots.free()]).toEqual([17, 17])
    cap.slots.take(17)
    expect([cap.ownRoom() < 1, cap.slots.free()]).toEqual([true, 0])
  })
})

const PROCESSES = [1, 3] as const
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe.each(PROCESSES)('with %d processes', (processes) => {
  const simulate = (receiver: SimulatedReceiver, run: { rate: number; seconds: number; backlog?: number }) =>
    simulateSending(receiver, { ...run, processes, bounds: BOUNDS })

  test.each([
    ['20 ms at 300/s', constant(20), 300],
    ['700 ms at 24/s', constant(700), 24],
    ['5 s at 5/s', constant(5_000), 5],
    ['700 ms give or take at 24/s', jittery(700, 0.5), 24],
  ])('a receiver of %s keeps up within a minute and a half', (_name, receiver, rate) => {
    const { waiting } = simulate(receiver, { rate, seconds: 150 })
    expect(Math.max(...waiting.slice(90))).toBeLessThanOrEqual(rate / 2)
  })

  // Guarantee: a shop that ignores some types of events and works on others keeps up: which of them a window has more of is no sign.
  test.each([0.1, 0.3, 0.5, 0.6, 0.7])(
    'a receiver that takes 700 ms for %d of its events and 5 ms for the others keeps up',
    (share) => {
      const { waiting } = simulate(mixed(share, 700, 5), { rate: 24, seconds: 300 })
      expect(Math.max(...waiting.slice(90))).toBeLessThanOrEqual(24)
    },
  )

  // Guarantee: whatever each event costs a shop, its backlog shrinks as fast as half of its workers can do it.
  test.each([
    ['mixed work', (luck: () => number) => (luck() < 0.5 ? 700 : 5), 352],
    ['rare long work', (luck: () => number) => (luck() < 0.1 ? 2_000 : 5), 204],
    ['work of any length', (luck: () => number) => -300 * Math.log(1 - luck() + 1e-12), 300],
  ])('20 workers with %s are not left idle', (_name, serviceMs, meanMs) => {
    const { succeeded } = simulate(queueing(20, serviceMs), { rate: 20, seconds: 600, backlog: 100_000 })
    expect(succeeded / 600).toBeGreaterThan(0.5 * (20 / (meanMs / 1_000)))
  })

  // Guarantee: a small shop is not filled until its own customers wait.
  test.each([
    [5, 200],
    [20, 300],
  ])('of %d workers of %d ms about as many are busy, whatever waits', (workers, serviceMs) => {
    const { inFlight, answered } = simulate(queueing(workers, serviceMs), { rate: 20, seconds: 600, backlog: 100_000 })
    const settled = inFlight.slice(60)
    expect(mean(settled)).toBeLessThan(2 * workers)
    expect(answered / 600).toBeGreaterThan(0.4 * (workers / (serviceMs / 1_000)))
    // The bound does not creep up with the queue that it bounds.
    expect(mean(inFlight.slice(450))).toBeLessThan(2 * workers)
  })

  test('a receiver that has become slower for good is served as fast as it can be', () => {
    const slower: SimulatedReceiver = ({ now }) => ({ durationMs: now < 60_000 ? 700 : 1_500, error: null })
    const { waiting } = simulate(slower, { rate: 24, seconds: 240 })
    expect(Math.max(...waiting.slice(200))).toBeLessThanOrEqual(12)
  })

  test('a receiver that was fast under a trickle, and slow when more came', () => {
    const later: SimulatedReceiver = ({ now }) => ({ durationMs: now < 20_000 ? 20 : 700, error: null })
    const { waiting } = simulate(later, { rate: 24, seconds: 180 })
    expect(Math.max(...waiting.slice(120))).toBeLessThanOrEqual(12)
  })

  test('a receiver that takes twice as long each minute is kept up with', () => {
    const doubling: SimulatedReceiver = ({ now }) => ({ durationMs: 100 * 2 ** Math.floor(now / 60_000), error: null })
    const { waiting } = simulate(doubling, { rate: 5, seconds: 240 })
    for (const second of [59, 119, 179, 239]) expect(waiting[second]).toBeLessThanOrEqual(2)
  })

  test('a receiver that refuses every second request gets one at a time, and all of what it accepts', () => {
    let count = 0
    const refusing: SimulatedReceiver = () => {
      count += 1
      return count % 2 === 0 ? { durationMs: 50, error: null } : { durationMs: 50, error: 'status_429' }
    }
    const { waiting, inFlight, succeeded } = simulate(refusing, { rate: 10, seconds: 120 })
    expect(Math.max(...inFlight.slice(10))).toBeLessThanOrEqual(processes)
    expect(Math.max(...waiting.slice(10))).toBeLessThanOrEqual(2)
    expect(succeeded).toBeGreaterThan(590)
  })

  test('a cold start is no base', () => {
    const cold: SimulatedReceiver = ({ now }) => ({ durationMs: now < 6_000 ? 3_000 : 100, error: null })
    const { waiting, latencyMs } = simulate(cold, { rate: 100, seconds: 60 })
    expect(Math.max(...waiting.slice(30))).toBeLessThanOrEqual(50)
    expect(latencyMs).toBe(100)
  })

  test('a minute of 503 brings it down to one, and back', () => {
    const away: SimulatedReceiver = ({ now }) =>
      now > 20_000 && now < 80_000 ? { durationMs: 50, error: 'status_503' } : { durationMs: 700, error: null }
    const { waiting, inFlight } = simulate(away, { rate: 24, seconds: 240 })
    expect(Math.max(...inFlight.slice(30, 75))).toBeLessThanOrEqual(processes)
    expect(Math.max(...waiting.slice(200))).toBeLessThanOrEqual(12)
  })

  test('429 above a rate keeps it near that rate, 429 for ever at one', () => {
    let window = { second: 0, count: 0 }
    const limited: SimulatedReceiver = ({ now }) => {
      const second = Math.floor(now / 1_000)
      window = { second, count: second === window.second ? window.count + 1 : 1 }
      return window.count > 20 ? { durationMs: 20, error: 'status_429' } : { durationMs: 200, error: null }
    }
    const { succeeded } = simulate(limited, { rate: 40, seconds: 120, backlog: 10_000 })
    expect(succeeded / 120).toBeGreaterThan(5)
    const never = simulate(() => ({ durationMs: 20, error: 'status_429' }), { rate: 40, seconds: 60 })
    expect(Math.max(...never.inFlight.slice(10))).toBeLessThanOrEqual(processes)
  })

  // Guarantee: nobody gets more places by answering fast first.
  test('a receiver that is fast and then hangs holds no more than the most, and soon a few', () => {
    const hangs: SimulatedReceiver = ({ now }) =>
      now % 120_000 < 60_000 ? { durationMs: 20, error: null } : { durationMs: 10_000, error: 'timeout' }
    const { inFlight } = simulate(hangs, { rate: 500, seconds: 240, backlog: 1_000 })
    expect(Math.max(...inFlight)).toBeLessThanOrEqual(32 * Math.max(2, processes))
    expect(Math.max(...inFlight.slice(112, 119))).toBeLessThanOrEqual(4 * processes)
  })
})
