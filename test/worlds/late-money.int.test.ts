import { expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { PATIENCE, useStoryStage } from './story-stage.ts'

const story = useStoryStage(useStores())
/** More than one look asks about at once. */
const ADDRESSES = 130

// Guarantee: late money is found at every address, however many there are.
it('finds late payments at addresses of every page of a look', async () => {
  const row = { mode: 'test', family: 'evm', materialId: 'test:evm:many', watchedOn: [] } as const
  const addresses = Array.from({ length: ADDRESSES }, (_, index) => {
    const matchKey = (index + 1).toString(16).padStart(40, 'e')
    return { index, address: `0x${matchKey}`, matchKey, ...row }
  })
  await story.stage.deps.wallets.addDerived(row.materialId, addresses, ADDRESSES)
  const rare = story.attend({ endedLookMs: 1e9, allLookMs: 1e9 })
  await vi.waitFor(async () => expect((await story.stage.cursor())?.source).toBe('thrifty'), PATIENCE)
  await rare.stop()
  const paid = [0, 64, ADDRESSES - 1]
  for (const index of paid) {
    const to = addresses[index]?.address ?? ''
    await story.stage.chain.pay({ asset: 'usdt_ethereum', to, amountBase: BigInt(1_000_000 + index) })
    await story.stage.chain.mine()
  }
  await story.stage.chain.mine(80)
  story.attend({ endedLookMs: 1e9, allLookMs: 50 })
  await vi.waitFor(
    async () => expect(await story.amounts()).toEqual(paid.map((index) => BigInt(1_000_000 + index))),
    PATIENCE,
  )
})
