import { expect, test, vi } from 'vitest'
import type { Installation } from '#scripts/cli/session/installation.ts'
import { standIn } from '#test/support/stand-in.ts'
import { runDiagnoses } from './diagnoses.ts'

// Guarantee: beside a store that takes seconds for each command doctor names the store, instead of calling it reachable minutes later.
test('a primary that does not answer a ping in time is the one result', async () => {
  const db = standIn<Installation['db']>({ isHealthy: async () => false })
  const found = await runDiagnoses(standIn<Installation>({ db }))
  expect(found).toEqual([
    {
      name: 'mongo',
      ok: false,
      detail: expect.stringMatching(/^the primary does not answer a ping within 2 s: all work waits/),
    },
  ])
})

// Guarantee: one thing that hangs does not hide what is known of all others.
test('a check without a result is a fault beside the others', async () => {
  vi.useFakeTimers()
  try {
    const installation = standIn<Installation>({
      db: standIn({
        isHealthy: async () => true,
        collection: () => {
          throw new Error('refused')
        },
      }),
      catalog: standIn({ hasNode: () => false }),
      nodePrices: standIn({ quota: () => null }),
      clock: standIn({ now: () => 0, driftMs: 0 }),
      mailQueue: standIn({ count: () => new Promise<never>(() => undefined) }),
      exceptions: standIn({ listOpen: async () => [] }),
    })
    const running = runDiagnoses(installation)
    await vi.advanceTimersByTimeAsync(60_000)
    const found = await running
    expect(found).toContainEqual({ name: 'mails', ok: false, detail: 'no result within 60 s' })
    expect(found).toContainEqual({ name: 'inbox', ok: true, detail: 'no open exception' })
    expect(found).toContainEqual({ name: 'clock', ok: true, detail: "0 ms off MongoDB's clock" })
  } finally {
    vi.useRealTimers()
  }
})
