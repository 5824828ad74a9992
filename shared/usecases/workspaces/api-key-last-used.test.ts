import { expect, test } from 'vitest'
import { createKeyUse, KEY_USE_STEP_MS } from './api-key-cache.ts'

const NOW = 1_750_000_000_000

function openKeyUse(noteUse: (ids: readonly string[], at: number) => Promise<void>) {
  const auditWrite: { ids: readonly string[]; at: number }[] = []
  const timers: (() => void)[] = []
  const use = createKeyUse({
    keys: {
      noteUse: async (ids, at) => {
        await noteUse(ids, at)
        auditWrite.push({ ids, at })
      },
    },
    clock: { now: () => NOW },
    logger: { debug: () => undefined } as never,
    after: (_delayMs, run) => {
      timers.push(run)
      return () => {
        timers.splice(timers.indexOf(run), 1)
      }
    },
  })
  return { use, auditWrite, timers }
}

test('uses of many requests are one write that names each key once', async () => {
  const { use, auditWrite, timers } = openKeyUse(async () => undefined)
  for (const id of ['k-1', 'k-2', 'k-1']) use.note({ id })
  use.note({ id: 'k-3', lastUsedAt: NOW - KEY_USE_STEP_MS })
  expect(timers).toHaveLength(1)
  timers[0]?.()
  await use.close()
  expect(auditWrite).toEqual([{ ids: ['k-1', 'k-2', 'k-3'], at: NOW }])
})

test('a key whose last use is recent costs nothing', async () => {
  const { use, auditWrite, timers } = openKeyUse(async () => undefined)
  use.note({ id: 'k-1', lastUsedAt: NOW - KEY_USE_STEP_MS + 1 })
  expect(timers).toHaveLength(0)
  await use.close()
  expect(auditWrite).toEqual([])
})

// Guarantee: what nobody waits for can fail without anybody noticing, and is tried again with the next use.
test('a failed write disturbs nobody and the next use is recorded', async () => {
  let fails = true
  const { use, auditWrite } = openKeyUse(async () => {
    if (fails) throw new Error('the store is away')
  })
  use.note({ id: 'k-1' })
  await use.close()
  fails = false
  use.note({ id: 'k-1' })
  await use.close()
  expect(auditWrite).toEqual([{ ids: ['k-1'], at: NOW }])
})
