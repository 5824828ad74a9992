import { expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { PATIENCE, useStoryStage } from './story-stage.ts'

const story = useStoryStage(useStores())
const DAY_S = 86_400

// Guarantee: one wrong time of a provider does not make its later, right answers wrong.
it('forgets a time that is a day ahead', async () => {
  await story.open('pending', 'usdt_ethereum')
  story.attend({ openMs: 20, watchedMs: 20 })
  await story.untilHead()
  const looks = () => story.node.calls.get('eth_call') ?? 0
  const after = async (count: number) => {
    const from = looks()
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(from + count), PATIENCE)
  }
  await after(10)
  story.node.runAhead(DAY_S, 2)
  await after(20)
  const heights = story.node.calls.get('eth_getBlockByNumber') ?? 0
  for (let count = 0; count < 20; count += 1) {
    await after(1)
    expect((await story.stage.cursor())?.trouble ?? null).toBeNull()
  }
  // Nothing happens: each look is one question.
  expect((story.node.calls.get('eth_getBlockByNumber') ?? 0) - heights).toBeLessThan(20)
})
