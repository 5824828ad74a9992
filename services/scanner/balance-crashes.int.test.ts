import { describe, expect, it, vi } from 'vitest'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import { ETHER, increase, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleOf } from '#test/support/depth.ts'
import { CONFIRMATIONS } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, untilHead, scanOnce, scanAndDie, scanBlind, waitForEther, send, signed, credited } =
  useBalanceStage(stores)

describe('a reorganisation', () => {
  // Guarantee: a balance that is taken back takes the payment with it, and the same money comes back as the same payment.
  it('drops what balances told, and finds it again under its key', async () => {
    await waitForEther()
    stage.scan(source())
    await untilHead()
    const raw = await signed(5n)
    await stage.chain.mine(2)
    await stage.chain.rpc('eth_sendRawTransaction', [raw])
    await stage.chain.mine(2)
    const first = (await stage.height()) - 1
    await stage.untilPayments([{ ...increase(5n), state: 'detected', height: first }])
    await untilHead()
    await stage.chain.reorg(3)
    await stage.untilPayments([{ ...increase(5n), state: 'orphaned' }])
    await untilHead()
    await stage.chain.reorg(2, [[raw, 1]])
    await stage.untilPayments([{ ...increase(5n), state: 'detected' }])
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ ...increase(5n), state: 'confirmed' }])
  })
})

describe('a reorganisation and its way back', () => {
  // Guards money: what an account had at a block explains nothing once the payments of that block were taken back.
  it('finds again what only the balances of blocks show that passed unread the second time', async () => {
    await waitForEther()
    const scanner = await scanBlind()
    scanner.answer()
    await stage.chain.mine()
    await send(ETHER)
    await stage.chain.mine(2)
    await stage.untilPayments([{ ...increase(ETHER), state: 'detected' }])
    await untilHead()
    const first = (await stage.cursor())?.hash
    const dump = await stage.chain.rpc('anvil_dumpState', [true])
    await stage.chain.reorg(3)
    await scanner.silence()
    await stage.untilPayments([{ ...increase(ETHER), state: 'orphaned' }])
    await vi.waitUntil(async () => (await stage.cursor())?.hash !== first, 20_000)
    await stage.chain.rpc('anvil_loadState', [dump])
    await vi.waitUntil(async () => (await stage.cursor())?.hash === first, 20_000)
    scanner.answer()
    await stage.chain.mine()
    await untilHead()
    await vi.waitFor(async () => expect(await credited()).toEqual([ETHER]), 20_000)
  })
})

describe('a head that is replaced while it is read', () => {
  // Guarantee: an invoice that was issued after the accounts were listed is not missing from a block made after that.
  it('is read again with the invoices issued meanwhile', async () => {
    const raw = await signed(5n)
    await scanOnce()
    await stage.chain.mine()
    const { invoices } = stage.deps
    let isIssued = false
    const watchedMethods: typeof invoices.watchedMethods = async (...question) => {
      const listed = await invoices.watchedMethods(...question)
      if (!isIssued) {
        isIssued = true
        await waitForEther()
        await stage.chain.reorg(1, [[raw, 0]])
      }
      return listed
    }
    const scanner = startChainScanner({ ...stage.deps, invoices: { ...invoices, watchedMethods } }, source())
    await untilHead()
    await stage.chain.mine()
    await untilHead()
    await scanner.stop()
    expect(await stage.payments()).toMatchObject([{ ...increase(5n), height: (await stage.height()) - 1 }])
  })
})

describe('a scanner that dies', () => {
  // Guarantee: between any two steps of a commit a crash neither loses nor doubles what balances tell.
  it.each(sampleOf(['payments', 'checks', 'cursor'] as const, 1))(
    'after the %s goes on where it was',
    async (after) => {
      await waitForEther()
      await scanOnce()
      await send(5n)
      await stage.chain.mine(2)
      await send(6n)
      await stage.chain.mine()
      await scanAndDie(
        (deps, die) => ({
          ...(after === 'payments' && { balances: { ...deps.balances, save: die } }),
          ...(after === 'checks' && { cursors: { ...deps.cursors, advance: die } }),
          ...(after === 'cursor' && { payments: { ...deps.payments, confirmThrough: die } }),
        }),
        { batchMax: 2 },
      )
      // Another number of blocks per step, and one more payment of the same amount.
      await send(5n)
      await stage.chain.mine()
      stage.scan(source())
      await untilHead()
      expect(await credited()).toEqual([5n, 5n, 6n])
    },
  )

  it('and finds other blocks there does not keep what only the first ones held', async () => {
    await waitForEther()
    await scanOnce()
    await send(5n)
    await stage.chain.mine(2)
    await scanAndDie(({ cursors }, die) => ({ cursors: { ...cursors, advance: die } }))
    expect(await credited()).toEqual([5n])
    await stage.chain.reorg(2)
    await send(5n)
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    expect(await stage.payments()).toMatchObject([{ ...increase(5n), height: await stage.height() }])
  })
})
