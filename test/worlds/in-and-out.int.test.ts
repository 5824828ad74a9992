import { expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import type { Account } from './payers.ts'
import { PATIENCE, useStoryStage } from './story-stage.ts'

const story = useStoryStage(useStores())
const USDT = 1_000_000n

/** Two payments, the first of which a collector takes away before the second comes; the account never falls below its start. */
async function payCollectPay(account: Account): Promise<void> {
  const { chain } = story.stage
  await chain.mine(3)
  await story.payers.pay(account, 'usdt_ethereum', 50n * USDT)
  await chain.mine(3)
  await story.payers.collect(account, 'usdt_ethereum', 50n * USDT)
  await chain.mine(9)
  await story.payers.pay(account, 'usdt_ethereum', 20n * USDT)
  await chain.mine(4)
}

// Guarantee: a collector with an allowance hides no payment to an open invoice (R2).
it('finds both payments to an open invoice although a collector took the first between two looks', async () => {
  const account = await story.open('pending', 'usdt_ethereum')
  const before = story.attend({ marginMs: 0 })
  await story.untilHead()
  await before.stop()
  await payCollectPay(account)
  story.attend({ marginMs: 0 })
  await vi.waitFor(async () => expect(await story.amounts()).toEqual([50n * USDT, 20n * USDT]), PATIENCE)
})

// Guarantee: the same holds for late money, which looks find (R1).
it('finds both late payments although a collector took the first between two looks', async () => {
  const account = await story.open('expired', 'usdt_ethereum')
  const looks = { endedLookMs: 200, allLookMs: 400, blockTimeMs: 1, marginMs: 0 }
  const before = story.attend(looks)
  await story.stage.chain.mine(80)
  const start = await story.stage.height()
  await vi.waitFor(async () => expect((await story.stage.cursor())?.headHeight).toBeGreaterThanOrEqual(start), PATIENCE)
  await before.stop()
  await payCollectPay(account)
  await story.stage.chain.mine(80)
  story.attend(looks)
  await vi.waitFor(async () => expect(await story.amounts()).toEqual([50n * USDT, 20n * USDT]), PATIENCE)
})
