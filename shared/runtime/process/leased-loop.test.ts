import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Runtime } from '#shared/ports/runtime.ts'
import { startLeasedLoop } from './leased-loop.ts'

const LEASE_MS = 15_000
const nothing = () => undefined

/** A lease that another process may take, and a loop on it. */
function openLoop(round: () => Promise<void>, pauseMs = 1_000) {
  const seen = { requests: [] as number[], isOurs: true, rounds: 0 }
  const runtime = {
    clock: { now: () => Date.now() },
    random: { uuid: () => 'owner', bytes: (length: number) => new Uint8Array(length) },
    logger: { info: nothing, warn: nothing, error: nothing, debug: nothing },
    metrics: { count: nothing, gauge: nothing, observe: nothing },
  } as unknown as Runtime
  const leases = {
    acquire: async (_id: string, _owner: string, leaseMs: number) => {
      seen.requests.push(leaseMs)
      return seen.isOurs
    },
    release: async () => undefined,
  }
  const stop = startLeasedLoop(
    { ...runtime, leases },
    {
      ...{ id: 'job', leaseMs: LEASE_MS, pauseMs: () => pauseMs, failed: 'the job failed' },
      failures: 'audit_chain_failed_total',
      round: async () => {
        seen.rounds += 1
        await round()
      },
    },
  )
  return { seen, stop }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

// Guarantee: whatever the loop keeps in mind, a round begins only while the store still grants the lease for as long as a round may take.
it('asks for its lease again before what is left of it is shorter than a round', async () => {
  const { seen, stop } = openLoop(async () => undefined)
  await vi.advanceTimersByTimeAsync(60_500)
  expect(seen.rounds).toBe(61)
  // Every ten seconds, for ten seconds more than a round may take.
  expect(seen.requests).toEqual(Array.from({ length: 7 }, () => LEASE_MS + 10_000))
  await stop()
})

it('runs no round while another process holds the lease, and asks at each pause', async () => {
  const { seen, stop } = openLoop(async () => undefined)
  seen.isOurs = false
  await vi.advanceTimersByTimeAsync(10_500)
  // The very first request was granted before the other process came.
  expect(seen.rounds).toBe(10)
  await vi.advanceTimersByTimeAsync(5_000)
  expect([seen.rounds, seen.requests.length]).toEqual([10, 7])
  seen.isOurs = true
  await vi.advanceTimersByTimeAsync(1_000)
  expect(seen.rounds).toBe(11)
  await stop()
})

it('asks for its lease again after a failed round', async () => {
  const { seen, stop } = openLoop(async () => {
    if (seen.rounds === 2) throw new Error('the store is away')
  })
  await vi.advanceTimersByTimeAsync(2_500)
  expect([seen.rounds, seen.requests.length]).toEqual([3, 2])
  await stop()
})

it('reads its pause after each round', async () => {
  const { seen, stop } = openLoop(async () => undefined, 4_000)
  await vi.advanceTimersByTimeAsync(8_500)
  expect(seen.rounds).toBe(3)
  await stop()
})
