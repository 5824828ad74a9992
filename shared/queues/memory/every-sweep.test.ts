import { afterEach, expect, it, vi } from 'vitest'
import { createInvoiceTransitionsWorker } from '#shared/queues/invoice-transitions-queue.ts'
import { createMailWorker } from '#shared/queues/mail-queue.ts'
import { createOutboxWorker } from '#shared/queues/outbox-queue.ts'
import type { QueueWorker, StartWorker } from '#shared/queues/queue-worker-options.ts'
import { createRatesWorker } from '#shared/queues/rates-queue.ts'
import { createRecoveriesWorker } from '#shared/queues/recoveries-queue.ts'
import { createWebhooksWorker } from '#shared/queues/webhooks-queue.ts'
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

/** What a process does with an id, and the question to the store which work is overdue. */
type Start = (
  start: StartWorker,
  handle: (id: unknown) => Promise<unknown>,
  overdue: () => Promise<readonly string[]>,
) => QueueWorker
const QUEUES: Readonly<Record<string, readonly [id: string, Start]>> = {
  'invoice transitions': [
    'i-1',
    (start, advance, overdue) => createInvoiceTransitionsWorker(start, { advance, overdue }),
  ],
  outbox: [
    '3',
    (start, relay, overdue) =>
      createOutboxWorker(start, {
        relay,
        overdue: async () => (await overdue()).map((shard) => Number(shard)),
      }),
  ],
  webhooks: [
    'e-1',
    (start, dispatch, overdue) => createWebhooksWorker(start, { lane: 'normal', concurrency: 4, dispatch, overdue }),
  ],
  'slow webhooks': [
    'e-2',
    (start, dispatch, overdue) => createWebhooksWorker(start, { lane: 'slow', concurrency: 4, dispatch, overdue }),
  ],
  mail: ['m-1', (start, send, overdue) => createMailWorker(start, { send, overdue })],
  recoveries: ['r-1', (start, carryOut, overdue) => createRecoveriesWorker(start, { carryOut, overdue })],
  rates: [
    'undefined',
    (start, runCycle, overdue) =>
      createRatesWorker(start, {
        runCycle: () => runCycle('undefined'),
        isDue: async () => (await overdue()).length > 0,
      }),
  ],
}

// Guarantee: work whose wake-up died with a process is found by the sweep of its queue, within about a second, again and again.
it.each(Object.entries(QUEUES))(
  '%s: what the store says is overdue is handled without any wake-up',
  async (_name, [id, start]) => {
    vi.useFakeTimers()
    const handled: string[] = []
    const due: string[] = []
    const signals = createMemorySignals(metrics)
    worker = start(
      (options) => signals.startWorker(runtime, options),
      async (one) => {
        handled.push(String(one))
        due.length = 0
      },
      async () => [...due],
    )
    await vi.advanceTimersByTimeAsync(5_000)
    expect(handled).toEqual([])
    for (const times of [1, 2]) {
      due.push(id)
      await vi.advanceTimersByTimeAsync(1_300)
      expect(handled).toEqual(Array(times).fill(id))
    }
  },
)
