import { Interface } from 'ethers'
import { describe, expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { ETHER, FORWARDER, increase, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { sampleOf } from '#test/support/depth.ts'
import { CONFIRMATIONS, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const HOUR_MS = 3_600_000
const HOUR_SECONDS = 3_600
const USDT = ASSETS.usdt_ethereum.contract
const erc20 = new Interface(['function balanceOf(address) view returns (uint256)'])
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

describe('addresses of invoices that wait for a token', () => {
  async function waitForTokens(at: number): Promise<string> {
    const method = samplePaymentMethod(WATCHED.matchKey, at, { asset: 'usdt_ethereum' })
    const paymentMethods = [{ ...method, address: WATCHED.address }]
    const expiresAt = at + HOUR_MS
    const state = { paymentMethods, status: 'expired' as const, expiresAt, nextActionAt: null }
    const invoice = sampleInvoice(stores.runtime.random, { at, number: 1, state })
    await createInvoiceRepository(stores.db).insert(invoice)
    return invoice.terms.id
  }

  // Guarantee: coins from a contract are seen at every address that an invoice of the last day showed, whatever it asked for.
  it('show coins of contracts as well, until a day after the deadline', async () => {
    let aheadMs = 0
    const invoiceId = await waitForTokens(Date.now() - 20 * HOUR_MS)
    stage.scan(source(), { clock: { now: () => Date.now() + aheadMs } })
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([increase(5n)])
    expect(await stores.db.connection.collection('payments').findOne()).toMatchObject({ invoiceId, counted: false })
    await stage.chain.rpc('evm_increaseTime', [6 * HOUR_SECONDS])
    aheadMs = 6 * HOUR_MS
    await stage.chain.mine()
    await untilHead()
    await send(6n)
    await stage.chain.mine(2)
    await untilHead()
    expect(await credited()).toEqual([5n])
  })

  // Guarantee: token money without a log is a node that withholds something, never an increase: its key would be that of as many coins.
  it('never show tokens as an increase', async () => {
    await waitForTokens(Date.now())
    stage.scan(source())
    await untilHead()
    const slot = await balanceSlot()
    await stage.chain.rpc('anvil_setStorageAt', [USDT, slot, `0x${5n.toString(16).padStart(64, '0')}`])
    await send(5n)
    await stage.chain.mine(2)
    await stage.untilPayments([increase(5n)])
    await untilHead()
    expect(await stage.payments()).toHaveLength(1)
    expect(await stores.db.connection.collection('payments').findOne()).toMatchObject({
      asset: 'eth_ethereum',
      contract: null,
    })
  })

  /** The place in the token's storage that holds the watched address's balance. */
  async function balanceSlot(): Promise<string> {
    const data = erc20.encodeFunctionData('balanceOf', [WATCHED.address])
    const list = (await stage.chain.rpc('eth_createAccessList', [{ to: USDT, data }, 'latest'])) as {
      readonly accessList: readonly { readonly storageKeys: readonly string[] }[]
    }
    const keys = list.accessList.flatMap(({ storageKeys }) => storageKeys)
    for (const key of keys) {
      const id = await stage.chain.rpc('evm_snapshot', [])
      await stage.chain.rpc('anvil_setStorageAt', [USDT, key, `0x${7n.toString(16).padStart(64, '0')}`])
      const read = (await stage.chain.rpc('eth_call', [{ to: USDT, data }, 'latest'])) as string
      await stage.chain.rpc('evm_revert', [id])
      if (BigInt(read) === 7n) return key
    }
    throw new Error('the token keeps its balances elsewhere')
  }
})
