import { EventEmitter } from 'node:events'
import { expect, it, vi } from 'vitest'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createShutdown } from './shutdown.ts'

function setup(deadlineMs = 1_000) {
  const signals = new EventEmitter()
  const codes: number[] = []
  const logger = createLogger({ name: 'test', level: 'silent' })
  const shutdown = createShutdown({ logger, deadlineMs, signals, exit: (code) => void codes.push(code) })
  return { signals, codes, shutdown }
}

it('runs the steps in reverse order, once, and exits with 0', async () => {
  const { signals, codes, shutdown } = setup()
  const order: string[] = []
  for (const name of ['stores', 'worker', 'http']) shutdown.add(name, async () => void order.push(name))
  signals.emit('SIGTERM', 'SIGTERM')
  await shutdown.run('again')
  expect(order).toEqual(['http', 'worker', 'stores'])
  expect(codes).toEqual([0])
})

it('goes on after a step that fails and exits with 1', async () => {
  const { codes, shutdown } = setup()
  const stop = vi.fn()
  shutdown.add('first', stop)
  shutdown.add('second', () => Promise.reject(new Error('broken')))
  await shutdown.run('test')
  expect(stop).toHaveBeenCalledOnce()
  expect(codes).toEqual([1])
})

it('does not wait beyond the deadline', async () => {
  const { codes, shutdown } = setup(5)
  shutdown.add('hangs', () => new Promise(() => {}))
  await shutdown.run('test')
  expect(codes).toEqual([1])
})

it('exits at once on a second signal', () => {
  const { signals, codes, shutdown } = setup()
  shutdown.add('hangs', () => new Promise(() => {}))
  signals.emit('SIGINT', 'SIGINT')
  signals.emit('SIGINT', 'SIGINT')
  expect(codes).toEqual([130])
})
