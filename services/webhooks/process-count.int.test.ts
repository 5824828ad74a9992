import { afterEach, expect, test, vi } from 'vitest'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { useStores } from '#test/support/stores.ts'
import { startProcessCount } from './assemble.ts'

const stores = useStores()
afterEach(() => void vi.useRealTimers())

const nothing = (): void => undefined
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing } as never

test('counts live processes of its name, at least one, and keeps the last number while heartbeats cannot be read', async () => {
  const heartbeats = createProcessHeartbeats(stores.db)
  let now = stores.runtime.clock.now()
  let away = false
  const refused = vi.fn(() => Promise.reject(new Error('away')))
  const count = () => {
    const started = startProcessCount({
      heartbeats: {
        countLive: (name, at) => (away ? refused() : heartbeats.countLive(name, at)),
      },
      clock: { now: () => now },
      logger,
    })
    return started
  }
  const first = count()
  await first.stop()
  expect(first.count()).toBe(1)

  const life = { host: 'h', pid: 1, version: '1', node: '20', startedAt: now, silent: [], masterKeys: [] }
  await heartbeats.beat({ ...life, id: 'a', name: 'webhooks', seenAt: now })
  await heartbeats.beat({ ...life, id: 'b', name: 'webhooks', seenAt: now - 44_000 })
  await heartbeats.beat({ ...life, id: 'c', name: 'webhooks', seenAt: now - 45_000 })
  await heartbeats.beat({ ...life, id: 'd', name: 'api', seenAt: now })
  const second = count()
  await second.stop()
  expect(second.count()).toBe(2)

  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const third = count()
  await vi.waitFor(() => expect(third.count()).toBe(2), { timeout: 5_000, interval: 10 })
  away = true
  vi.advanceTimersByTime(15_000)
  await vi.waitFor(() => expect(refused.mock.settledResults[0]?.type).toBe('rejected'))
  expect(third.count()).toBe(2)
  away = false
  now += 60_000
  vi.advanceTimersByTime(15_000)
  await vi.waitFor(() => expect(third.count()).toBe(1), { timeout: 5_000, interval: 10 })
  await third.stop()
})
