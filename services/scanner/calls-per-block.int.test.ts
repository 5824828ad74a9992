import { expect, test, vi } from 'vitest'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { useScanStage } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stage = useScanStage(useStores())

// Guards the quota of a hosted node: once a block is stored, its head is asked for again after the pause, and not at once.
test('a scanner at the head asks for it once a block', async () => {
  const honest = stage.source()
  const heads: number[] = []
  const client: ChainClient = {
    ...honest.client,
    head: async () => {
      const head = await honest.client.head()
      heads.push(head.height)
      return head
    },
  }
  // Only a wake-up ends this pause.
  const scanner = stage.scan(stage.source({ client, pollMs: 3_600_000 }))
  const stored = async (height: number) =>
    await vi.waitFor(async () => expect((await stage.cursor())?.height).toBe(height), 8_000)
  const first = await stage.height()
  await stored(first)
  for (const nth of [1, 2, 3]) {
    await stage.chain.mine()
    scanner.wake()
    await stored(first + nth)
  }
  // The first start also reads it to choose where to begin.
  expect(heads).toEqual([first, first, first + 1, first + 2, first + 3])
})
