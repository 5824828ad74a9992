import { expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { HONEST, type NodeWorld } from '#test/support/world-node.ts'
import { PATIENCE, useStoryStage } from './story-stage.ts'

const story = useStoryStage(useStores())
const USDT = 1_000_000n

/** The scanner is away for more blocks than the node keeps states of; a payment of those blocks must be credited all the same. */
async function payInPause(world: NodeWorld, blocks: number, start: () => { stop(): Promise<void> }): Promise<void> {
  const account = await story.open('pending', 'usdt_ethereum')
  story.node.become({ ...world, stateBlocks: null })
  const before = start()
  await story.untilHead()
  await before.stop()
  await story.payers.pay(account, 'usdt_ethereum', 3n * USDT)
  await story.stage.chain.mine(blocks)
  story.node.become(world)
  start()
  await vi.waitFor(async () => expect(await story.amounts()).toEqual([3n * USDT]), PATIENCE)
  // A payment of the newest block is credited too.
  await story.payers.pay(account, 'usdt_ethereum', 4n * USDT)
  await story.stage.chain.mine()
  await vi.waitFor(async () => expect(await story.amounts()).toEqual([3n * USDT, 4n * USDT]), PATIENCE)
}

// Guarantee: a pause of more blocks than a node keeps states of loses nothing, and stops nothing.
it.each([
  ['every block', () => story.readBlocks()],
  ['with attention', () => story.attend()],
] as const)('reads %s after a pause at a node that keeps 128 states', async (_, start) => {
  await payInPause({ ...HONEST, stateBlocks: 128 }, 135, start)
})

// Guarantee: a node that offers traces is never a worse node (E1).
it('reads every block after a pause at a node that keeps 128 states and offers traces', async () => {
  await payInPause({ ...HONEST, stateBlocks: 128, hasTraces: true }, 135, () => story.readBlocks())
})

// Guarantee: no words of a provider stop the crediting of a network.
it.each([
  ['every block', () => story.readBlocks()],
  ['with attention', () => story.attend()],
] as const)(
  'reads %s after a pause at a provider that says in its own words that states are gone',
  async (_, start) => {
    await payInPause({ ...HONEST, stateBlocks: 30, words: 'chainstack' }, 45, start)
  },
)
