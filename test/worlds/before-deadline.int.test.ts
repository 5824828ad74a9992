import { expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import type { Account } from './payers.ts'
import { PATIENCE, useStoryStage } from './story-stage.ts'

const story = useStoryStage(useStores())
/** Above the dust threshold of ether. */
const MILLI = 10n ** 15n

/** Coins that came inside of calls, as [amount, height]; without the coins from nowhere that pay for gas. */
const increases = async () =>
  (await story.stage.payments())
    .filter(({ key, state }) => key.includes(':d:') && state !== 'orphaned')
    .map(({ amount, height }) => [BigInt(amount), height])
    .filter(([amount]) => Number(amount) < 1e18)

/** Pays inside of a call in its own block; returns the payment as it must be stored. */
async function payInside(account: Account, amountBase: bigint): Promise<readonly [bigint, number]> {
  await story.payers.call(account, amountBase)
  await story.stage.chain.mine()
  return [amountBase, await story.stage.height()]
}

// Guarantee: balances credit what no log shows when it comes. The proof of a deadline would find it as well, when the payer has long been sent away.
it('stores coins from inside of calls in their blocks while the invoice is open', async () => {
  const account = await story.open('pending', 'eth_ethereum')
  const scanner = story.attend()
  await story.untilHead()
  const first = await payInside(account, MILLI)
  await vi.waitFor(async () => expect(await increases()).toEqual([first]), PATIENCE)
  await scanner.stop()
  // One range with two of them, of which the second is in its last block.
  await story.stage.chain.mine(3)
  const second = await payInside(account, 2n * MILLI)
  await story.stage.chain.mine(3)
  const third = await payInside(account, 3n * MILLI)
  story.attend()
  await vi.waitFor(async () => expect(await increases()).toEqual([first, second, third]), PATIENCE)
  const cursor = await story.stage.cursor()
  expect(cursor?.unproven ?? null).toBeNull()
})
