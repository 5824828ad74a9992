import { afterEach, expect, it, vi } from 'vitest'
import type { QueueWorker } from '#shared/queues/queue-worker-options.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { createMemorySignals } from './memory-signals.ts'

const metrics = { count() {}, gauge() {}, observe() {} }
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const logger = { ...SILENT, child: () => logger }
const runtime = {
  ...{ metrics, logger, clock: { now: () => 0 } },
  random: { bytes: (length: number) => new Uint8Array(length).fill(128), uuid: () => 'id' },
} as unknown as Parameters<ReturnType<typeof createMemorySignals>['startWorker']>[0]

let worker: QueueWorker | undefined
afterEach(async () => {
  await worker?.stop()
  vi.useRealTimers()
})

const { scan: _findsNothing, ...SWEPT } = WORKERS

// Guarantee: work whose wake-up died with a process is found by the sweep of its queue, within about a second, again and again.
it.each(Object.values(SWEPT))(
  '$queue: what the store says is overdue is handled without any wake-up',
  async (settings) => {
    vi.useFakeTimers()
    const handled: string[] = []
    const due: string[] = []
    worker = createMemorySignals(metrics).startWorker(runtime, {
      concurrency: 4,
      ...settings,
      handle: async (id) => {
        handled.push(id)
        due.length = 0
      },
      sweep: async () => [...due],
    })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(handled).toEqual([])
    for (const times of [1, 2]) {
      due.push('id-1')
      await vi.advanceTimersByTimeAsync(1_300)
      expect(handled).toEqual(Array(times).fill('id-1'))
    }
  },
)
