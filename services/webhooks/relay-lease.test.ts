import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startRelayLease } from './relay-lease.ts'

const nothing = (): void => undefined
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing } as never

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A relay whose requests for the lease get these answers, one a second. */
function relay(answers: readonly (boolean | Error)[]) {
  const left = [...answers]
  const workers: string[] = []
  const release = vi.fn(() => Promise.resolve())
  const stop = startRelayLease(
    {
      logger,
      random: { uuid: () => 'me', bytes: (length) => new Uint8Array(length) },
      leases: {
        acquire: async () => {
          const answer = left.shift() ?? false
          if (answer instanceof Error) throw answer
          return answer
        },
        release,
      },
    },
    () => {
      workers.push('start')
      return { stop: async () => void workers.push('stop') }
    },
  )
  return { stop, workers, release }
}

test('the worker runs while the lease is held, through requests without an answer, and again when it comes back', async () => {
  const { stop, workers } = relay([
    false,
    true,
    true,
    new Error('no primary'),
    true,
    false,
    new Error('away'),
    false,
    true,
  ])
  const seen: string[] = []
  for (let second = 0; second < 9; second += 1) {
    await vi.advanceTimersByTimeAsync(second === 0 ? 0 : 1_000)
    seen.push(workers.join(' '))
  }
  const [one, two, three] = ['start', 'start stop', 'start stop start']
  expect(seen).toEqual(['', one, one, one, one, two, two, two, three])
  await stop()
  expect(workers.at(-1)).toBe('stop')
})

// Guarantee: a process that takes a freed lease finds no other relay at work.
test('the lease is freed after the worker has ended, and no worker starts during a stop', async () => {
  const { stop, workers, release } = relay([true])
  await vi.advanceTimersByTimeAsync(0)
  release.mockImplementation(async () => void workers.push('release'))
  await stop()
  expect(workers).toEqual(['start', 'stop', 'release'])
  const late = relay([true])
  const stopped = late.stop()
  await stopped
  expect(late.workers).toEqual([])
})
