import { afterEach, expect, it, vi } from 'vitest'
import { PROCESSES } from '#shared/db/installation/process-model.ts'
import { useStores } from '#test/support/stores.ts'
import { startHeartbeats } from './start-heartbeat.ts'

const stores = useStores()
afterEach(() => void vi.restoreAllMocks())

it('a process reports at its start and every 15 s, and withdraws its report when it ends', async () => {
  // Only the timer of the reports is replaced: a fake clock for all would also hold up the polling below.
  const timers: { run: () => void; everyMs: number | undefined }[] = []
  vi.spyOn(globalThis, 'setInterval').mockImplementationOnce((run, everyMs) => {
    timers.push({ run, everyMs })
    return setTimeout(() => undefined, 0)
  })
  let now = 1_000_000
  const { random, logger } = stores.runtime
  let silent: object = {}
  const end = startHeartbeats(
    'outbox',
    stores.db,
    { clock: { now: () => now, driftMs: 7 }, random, logger },
    { silent: () => silent, masterKeys: ['key-1'] },
  )
  const seen = async () => {
    const rows = await stores.db.collection(PROCESSES).find({ name: 'outbox' }).toArray()
    return rows.map((row) => [row.seenAt.getTime(), row.silent, row.masterKeys, row.driftMs])
  }
  await expect.poll(seen).toEqual([[1_000_000, [], ['key-1'], 7]])
  expect(timers.map(({ everyMs }) => everyMs)).toEqual([15_000])
  silent = { 'outbox-sweep': 1 }
  now += 15_000
  timers[0]?.run()
  await expect.poll(seen).toEqual([[1_015_000, ['outbox-sweep'], ['key-1'], 7]])
  await end()
  expect(await seen()).toEqual([])
})
