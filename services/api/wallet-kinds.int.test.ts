import { HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { SLOTS_MAX } from '#shared/domain/money/amount-slot.ts'
import { walletGap } from '#shared/usecases/wallets/wallet-gap.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import type { TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import { addressAt, type CreatedInvoice, useWalletApi } from './wallet-kinds.fixture.ts'

const stores = useStores()
const stage = useWalletApi(stores)
const { add, create, created, pay, paidOf, unmatchedTransfers } = stage
let api: TestApi
beforeEach(() => {
  api = stage.api()
})

describe('one address with unique amounts', () => {
  // Guarantee: no two open invoices on one address ask for the same amount, however many are created at once.
  it('asks 200 invoices of one price, created at once, for 200 different amounts', async () => {
    await add([addressAt(0)], { kind: 'address' })
    const keys = await Promise.all(Array.from({ length: 4 }, () => api.newKey('test')))
    const fresh = await Promise.all(Array.from({ length: 200 }, (_, index) => create(keys[index % 4]?.apiKey ?? '')))
    expect(fresh.filter((one) => typeof one === 'string')).toEqual([])
    const invoices = fresh as CreatedInvoice[]
    expect(new Set(invoices.map(({ amountBase }) => amountBase)).size).toBe(200)
    expect(new Set(invoices.map(({ address }) => address))).toEqual(new Set([addressAt(0)]))
    const [lowest = 0n] = invoices.map(({ amountBase }) => amountBase).sort((a, b) => (a < b ? -1 : 1))
    for (const { amountBase, uri } of invoices) {
      expect(amountBase - 25_000_000n).toBeGreaterThan(0n)
      expect(amountBase - 25_000_000n).toBeLessThanOrEqual(SLOTS_MAX)
      expect(uri).toContain(`uint256=${amountBase}`)
    }
    expect(lowest).toBeLessThan(25_000_100n)
  })

  it('credits the invoice whose amount arrives, and tells the workspace of any other amount', async () => {
    await add([addressAt(0)], { kind: 'address' })
    const [one, two] = [await created(), await created()]
    await pay(two, two.amountBase)
    await pay(one, one.amountBase - 1n === two.amountBase ? one.amountBase + 1n : one.amountBase - 1n)
    expect([await paidOf(one.id), await paidOf(two.id)]).toEqual([0n, two.amountBase])
    expect(await unmatchedTransfers()).toEqual([api.engine.workspace.id])
  })

  it('does not credit money that came before the invoice', async () => {
    await add([addressAt(0)], { kind: 'address' })
    const fresh = await created()
    await pay(fresh, fresh.amountBase, api.engine.deps.clock.now() - 300_000)
    expect(await paidOf(fresh.id)).toBe(0n)
  })
})

describe('a disabled wallet', () => {
  it('locks nothing more, and credits what it issued', async () => {
    const { wallet } = await add([addressAt(10)])
    const fresh = await created()
    await api.engine.deps.wallets.setDisabled(wallet.id, api.engine.deps.clock.now())
    api.engine.advance(6_000)
    // Test mode falls back to its built-in wallet.
    expect((await created()).address).not.toBe(addressAt(10))
    await pay(fresh, fresh.amountBase)
    expect(await paidOf(fresh.id)).toBe(fresh.amountBase)
  })
})

describe('Solana with one address', () => {
  it('puts a reference of its own into each payment link', async () => {
    const solana = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'
    await addWallet(
      { ...api.engine.deps, ...api.engine },
      { workspaceId: api.engine.workspace.id, mode: 'test', family: 'solana', kind: 'address', value: solana },
    )
    const fresh = [await created(api.testKey, 'usdc_solana'), await created(api.testKey, 'sol_solana')]
    const references = fresh.map(({ uri }) => new URL(uri).searchParams.get('reference'))
    expect(new Set(references).size).toBe(2)
    for (const reference of references) expect(reference).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/)
    // The last digits of the amount are the invoice’s own; zeros at its end are not written.
    expect(fresh[0]?.uri).toMatch(/^solana:9B5X.*\?amount=25\.0000\d{1,2}&spl-token=EPjF/)
  })
})

describe('the gap of an extended key', () => {
  it('is the longest run of unpaid addresses, past ones included', async () => {
    const { deps, addressBook, secretBox } = api.engine
    const xpub = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'").neuter().extendedKey
    const input = {
      workspaceId: api.engine.workspace.id,
      mode: 'test',
      family: 'evm',
      kind: 'xpub',
      startIndex: 0,
    } as const
    const { wallet } = await addWallet({ ...deps, addressBook, secretBox }, { ...input, value: xpub })
    await api.engine.watchEverything()
    const fresh: CreatedInvoice[] = []
    for (let count = 0; count < 6; count += 1) fresh.push(await created())
    const fourth = fresh[3]
    if (fourth === undefined) throw new Error('six were created')
    await pay(fourth, fourth.amountBase)
    await paidOf(fourth.id)
    const material = await deps.wallets.findMaterial(wallet.materialId)
    if (material === null) throw new Error('no material')
    expect(await walletGap(deps, { ...material, nextIndex: 6 }, 6)).toEqual({
      lastPaidIndex: 3,
      nextIndex: 6,
      requiredGap: 4,
      isComplete: true,
    })
  })
})
