import { describe, expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import { increase, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, waitForEther, prunedNode, send, credited } = useBalanceStage(stores)

const mineAlone = async (blocks: number) => {
  for (let index = 0; index < blocks; index += 1) {
    await stage.chain.mine()
    await untilHead()
  }
}

/** A scanner of which each stored check is counted, and each account whose checks are read. */
function countingScanner() {
  const { balances } = stage.deps
  const counts = { checks: 0, reads: 0 }
  const save: typeof balances.save = async (mode, network, accounts, epoch) => {
    counts.checks += accounts.length
    await balances.save(mode, network, accounts, epoch)
  }
  const find: typeof balances.find = async (mode, network, matchKeys) => {
    counts.reads += matchKeys.length
    return await balances.find(mode, network, matchKeys)
  }
  const scanner = startChainScanner({ ...stage.deps, balances: { ...balances, save, find } }, source())
  return { ...scanner, counts }
}

/** An invoice at a second watched address. */
async function otherWaits(): Promise<void> {
  const [other] = createAddressBook().derive('evm', 'test', SANDBOX_KEYS.evm, 1, 1)
  if (other === undefined) throw new Error('no address')
  const row = { mode: 'test', family: 'evm', materialId: 'test:evm:stage', watchedOn: [] } as const
  await createRepositories(stores.db, stores.runtime).wallets.addDerived(row.materialId, [{ ...other, ...row }], 2)
  const wanted = { asset: 'eth_ethereum', symbol: 'ETH', decimals: 18 } as const
  const method = { ...samplePaymentMethod(other.matchKey, Date.now(), wanted), address: other.address }
  const invoice = sampleInvoice(stores.runtime.random, {
    at: Date.now(),
    number: 2,
    state: { paymentMethods: [method] },
  })
  await createInvoiceRepository(stores.db).insert(invoice)
}

describe('balances that do not change', () => {
  it('are read and stored once, however many blocks are compared', async () => {
    await waitForEther()
    const { counts, stop } = countingScanner()
    await mineAlone(5)
    expect(counts).toEqual({ checks: 1, reads: 1 })
    await send(5n)
    await mineAlone(3)
    expect(counts).toEqual({ checks: 2, reads: 1 })
    await stop()
    expect(await credited()).toEqual([5n])
  })

  // Guarantee: the next holder of the lease knows what accounts had at the last block, also when no node has its state any more.
  it('are known to the next scanner at the last block', async () => {
    await waitForEther()
    const { stop } = countingScanner()
    await mineAlone(4)
    await stop()
    const last = await stage.height()
    await send(7n)
    await stage.chain.mine(3)
    stage.scan(source(clientOf([await prunedNode()])))
    await untilHead()
    await stage.untilPayments([{ ...increase(7n), state: 'detected' }])
    const [payment] = await stage.deps.payments.listInBlocks({
      ...{ mode: 'test', network: 'ethereum', assets: ['eth_ethereum'], matchKeys: [WATCHED.matchKey] },
      ...{ from: 0, to: Number.MAX_SAFE_INTEGER },
    })
    expect(payment?.block?.increase?.since.height).toBe(last)
  })
})

describe('an account that is not compared for a while', () => {
  // Guards money: what came meanwhile was credited by its transaction, and is no increase of the balance from before.
  it('starts from its balance of then when it is compared again', async () => {
    await waitForEther()
    await otherWaits()
    const { invoices } = stage.deps
    let isListed = true
    const watchedMethods: typeof invoices.watchedMethods = async (...question) =>
      (await invoices.watchedMethods(...question)).filter(({ matchKey }) => isListed || matchKey !== WATCHED.matchKey)
    const { stop } = startChainScanner({ ...stage.deps, invoices: { ...invoices, watchedMethods } }, source())
    await mineAlone(2)
    isListed = false
    await mineAlone(2)
    await send(5n, WATCHED.address)
    await mineAlone(2)
    isListed = true
    await mineAlone(2)
    await send(6n)
    await mineAlone(2)
    await stop()
    expect(await credited()).toEqual([5n, 6n])
  })
})
