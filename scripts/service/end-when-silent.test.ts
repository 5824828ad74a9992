import { EventEmitter } from 'node:events'
import { expect, it, vi } from 'vitest'
import type { Logger } from '#shared/ports/runtime.ts'
import { createLiveness } from '#shared/runtime/process/liveness.ts'
import { createShutdown } from '#shared/runtime/process/shutdown.ts'
import { endWhenSilent } from './serve.ts'

const nothing = () => undefined
const logger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger }

// Guarantee: a loop that died without a word ends the process, in order and with a status that a supervisor takes for a failure.
it('ends the process when one of its loops makes no progress, and says which', async () => {
  const liveness = createLiveness({ isExcused: () => false, tickMs: 5 })
  const healthy = liveness.start('scan:test-ethereum', 3_600_000)
  liveness.start('sweep:outbox', 20)
  const exit = vi.fn()
  const shutdown = createShutdown({ logger, exit, signals: new EventEmitter() })
  const stopped = vi.fn()
  shutdown.add('services', stopped)
  const lines: string[] = []
  const end = endWhenSilent({
    silent: liveness.silent,
    logger,
    shutdown,
    say: (line) => lines.push(line),
    pollEveryMs: 5,
  })
  await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(1))
  expect(stopped).toHaveBeenCalledTimes(1)
  expect(lines).toEqual([
    expect.stringMatching(/^serve: ending, because loops make no progress \(sweep:outbox: no progress for \d+ s\)\n$/),
  ])
  healthy.end()
  end()
  liveness.stop()
})

it('lets a process live whose loops wait for a store', async () => {
  const looked = vi.fn(() => ({}))
  const shutdown = { run: vi.fn(async () => undefined) }
  const end = endWhenSilent({ silent: looked, logger, shutdown, say: nothing, pollEveryMs: 1 })
  await vi.waitFor(() => expect(looked.mock.calls.length).toBeGreaterThan(3))
  expect(shutdown.run).not.toHaveBeenCalled()
  end()
})
