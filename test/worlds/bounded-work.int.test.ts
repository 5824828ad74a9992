import { describe, expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import type { Account } from './payers.ts'
import { PATIENCE, useStoryStage } from './story-stage.ts'

const stores = useStores()
const story = useStoryStage(stores)
const USDT = 1_000_000n
/** Above the dust threshold of ether, which is 0.00001. */
const SMALL = 2n * 10n ** 13n

/** Calls until an honest payment behind so many blocks of a stranger's transfers is stored. */
async function callsBehind(spam: (to: Account) => Promise<void>, blocks: number): Promise<number> {
  const account = await story.open('pending', 'eth_ethereum')
  const before = story.attend({}, { batchMax: 20 })
  await story.untilHead()
  await before.stop()
  for (let count = 0; count < blocks; count += 1) {
    await spam(account)
    await story.stage.chain.mine()
  }
  await story.payers.pay(account, 'usdt_ethereum', 7n * USDT)
  await story.stage.chain.mine()
  const start = story.calls()
  const scanner = story.attend({}, { batchMax: 20 })
  await vi.waitFor(async () => expect(await story.amounts()).toContain(7n * USDT), PATIENCE)
  await story.untilHead()
  await scanner.stop()
  const calls = story.calls() - start
  for (const name of ['payments', 'invoices']) await stores.db.connection.collection(name).deleteMany({})
  return calls
}

// Guarantee: what a stranger sends costs calls in proportion to what he sends, at most.
describe('transfers of a stranger to an open invoice', () => {
  it('cost calls in proportion to their number, not to its square', async () => {
    const pay = (to: Account) => story.payers.pay(to, 'eth_ethereum', SMALL)
    const few = await callsBehind(pay, 40)
    const many = await callsBehind(pay, 240)
    expect(many).toBeLessThan(6 * 1.2 * few)
  })

  it('below the dust threshold cost next to nothing', async () => {
    const none = await callsBehind(async () => {}, 240)
    const dust = await callsBehind((to) => story.payers.pay(to, 'eth_ethereum', 1n), 240)
    expect(dust - none).toBeLessThan(240)
  })

  it('of nothing cost next to nothing', async () => {
    const none = await callsBehind(async () => {}, 60)
    const poison = await callsBehind((to) => story.payers.poison(to, 'usdt_ethereum'), 60)
    expect(poison - none).toBeLessThan(60)
  })
})

// Guarantee: work for addresses that nobody waits at holds nobody up who pays.
it('stores an honest payment while a look finds a stranger in every block', async () => {
  const ended = await story.open('expired', 'eth_ethereum')
  const open = await story.open('pending', 'usdt_ethereum')
  const rare = story.attend({ endedLookMs: 24 * 3_600_000, allLookMs: 24 * 3_600_000 })
  await story.untilHead()
  await rare.stop()
  for (let count = 0; count < 200; count += 1) {
    await story.payers.pay(ended, 'eth_ethereum', SMALL)
    await story.stage.chain.mine()
  }
  await story.stage.chain.mine(80)
  const start = story.calls()
  story.attend({ endedLookMs: 1, allLookMs: 24 * 3_600_000 })
  // The look has begun: it asks about more than the open invoice.
  await vi.waitFor(() => expect(story.calls() - start).toBeGreaterThan(60), PATIENCE)
  await story.payers.pay(open, 'usdt_ethereum', 7n * USDT)
  await story.stage.chain.mine()
  const paid = story.calls()
  await vi.waitFor(async () => expect(await story.amounts()).toContain(7n * USDT), PATIENCE)
  expect(story.calls() - paid).toBeLessThan(400)
})
