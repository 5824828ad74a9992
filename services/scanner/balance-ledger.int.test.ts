import { describe, expect, it } from 'vitest'
import { ETHER, FORWARDER, increase, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleOf } from '#test/support/depth.ts'
import { CONFIRMATIONS, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, untilHead, scanOnce, waitForEther, send, sweep, fail, credited } = useBalanceStage(stores)

/** A scanner's first look, before anybody waits for ether: what lies at the address is its start. */
async function lookFirst(wei: bigint): Promise<void> {
  await stage.chain.fund(WATCHED.address, wei)
  await stage.chain.mine()
  await scanOnce()
}

describe('coins inside of calls, told from balances', () => {
  // Guarantee: what a contract pays is credited once on a node that shows neither traces nor logs.
  it('are a payment without a transaction, detected and confirmed like any other', async () => {
    stage.scan(source())
    await untilHead()
    const invoiceId = await waitForEther()
    await send(5n)
    await stage.chain.mine()
    const mined = await stage.height()
    await stage.untilPayments([{ ...increase(5n), state: 'detected', height: mined }])
    await stage.chain.mine(CONFIRMATIONS - 1)
    await stage.untilPayments([{ ...increase(5n), state: 'confirmed', height: mined }])
    expect(await stores.db.connection.collection('payments').findOne()).toMatchObject({
      invoiceId,
      txHash: null,
      fromAddress: null,
      toAddress: WATCHED.address,
      contract: null,
      uncountedReason: null,
      // `rise` is the stored name of the increase, from the first release on.
      block: { rise: { since: { height: mined - 1 }, beforeBase: '0', afterBase: '5' } },
    })
  })

  it('are told apart from what transactions send in the same block', async () => {
    await waitForEther()
    stage.scan(source())
    await untilHead()
    await send(7n, WATCHED.address)
    await send(5n)
    await stage.chain.mine()
    await untilHead()
    expect(await credited()).toEqual([5n, 7n])
  })

  it('are two payments when two blocks bring the same amount, each in its block', async () => {
    await waitForEther()
    await scanOnce()
    for (const _ of [1, 2]) {
      await send(5n)
      await stage.chain.mine(2)
    }
    const height = await stage.height()
    stage.scan(source())
    await stage.untilPayments([
      { ...increase(5n, 0), height: height - 3 },
      { ...increase(5n, 1), height: height - 1 },
    ])
  })

  it('are found below what the merchant moves on, fees and failures included', async () => {
    await lookFirst(3n * ETHER)
    await waitForEther()
    await send(ETHER)
    await sweep(2n * ETHER)
    await stage.chain.mine()
    await fail()
    await stage.chain.mine()
    await sweep(ETHER / 2n)
    await send(7n * ETHER)
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    expect(await credited()).toEqual([ETHER, 7n * ETHER])
  })

  it('are not what lay there before, nor what comes for nobody', async () => {
    await lookFirst(ETHER)
    stage.scan(source())
    await send(5n)
    await stage.chain.mine()
    await untilHead()
    await waitForEther()
    await send(6n)
    await stage.chain.mine()
    await stage.untilPayments([increase(6n)])
  })

  it.each(sampleOf([1, 2, 50], 2))('are the same whatever number of blocks a step has: %i', async (batchMax) => {
    await waitForEther()
    await scanOnce()
    const below = await stage.height()
    for (const [value, to] of [
      [5n, FORWARDER],
      [5n, FORWARDER],
      [9n, WATCHED.address],
      [ETHER, FORWARDER],
    ] as const) {
      await send(value, to)
      await stage.chain.mine()
    }
    await sweep(1n)
    await stage.chain.mine(2)
    await send(5n)
    await stage.chain.mine(3)
    stage.scan(source(undefined, { batchMax }))
    await untilHead()
    expect((await stage.payments()).map(({ amount, height }) => [amount, height])).toEqual([
      ['5', below + 1],
      ['5', below + 2],
      ['9', below + 3],
      [ETHER.toString(), below + 4],
      ['5', below + 7],
    ])
  })
})

describe('an account that sends inside of calls', () => {
  // Guarantee: what a contract wallet pays out unseen lowers the start; what comes next is counted once and in full.
  it('starts from its lower balance', async () => {
    await lookFirst(ETHER)
    await waitForEther()
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    await stage.chain.fund(WATCHED.address, ETHER / 2n)
    await stage.chain.mine()
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([increase(5n)])
    expect(await stage.payments()).toHaveLength(1)
  })
})
