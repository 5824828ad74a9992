import { beforeEach, describe, expect, it } from 'vitest'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { releaseClaims } from '#shared/usecases/wallets/release-claims.ts'
import { createPoolWatch } from '#shared/usecases/wallets/warn-low-pools.ts'
import type { TestApi } from '#test/support/api.ts'
import { blockWith } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { addressAt, type CreatedInvoice, keyOf, useWalletApi } from './wallet-kinds.fixture.ts'

const stores = useStores()
const stage = useWalletApi(stores)
const { chain, add, create, created, pay, paidOf, unmatchedTransfers } = stage
const DAY = 86_400_000
const HELD = 20 * 60_000 + DAY
let api: TestApi
beforeEach(() => {
  api = stage.api()
})

describe('a pool', () => {
  it('leases each address to one invoice, then is exhausted, in the list and in a create', async () => {
    await add([addressAt(1), addressAt(2), addressAt(3)])
    const fresh = await Promise.all([created(), created(), created()])
    expect(new Set(fresh.map(({ address }) => address)).size).toBe(3)
    expect(await create(api.testKey)).toBe('NO_WALLET_FOR_ASSET')
    const { json } = await api.call('GET', '/currencies')
    const reasonOf = (id: string) => json.data.find((row: { id: string }) => row.id === id).unavailable_reason
    expect(reasonOf('usdt_ethereum')).toBe('addresses_exhausted')
    await add([addressAt(4)])
    api.engine.advance(3_000)
    expect((await created()).address).toBe(addressAt(4))
  })

  // Guarantee: an address is not handed on before its time is over, its scanner has passed it and its money has settled.
  it('hands an address on a day after its last quote, and only to money of the new time', async () => {
    await add([addressAt(5)])
    const { deps } = api.engine
    const first = await created()
    await pay(first, 1_000_000n)
    expect(await paidOf(first.id)).toBe(1_000_000n)
    const release = () => releaseClaims(deps)
    api.engine.advance(HELD - 60_000)
    await api.engine.setCursor(chain.height, deps.clock.now())
    expect(await release()).toBe(0)
    api.engine.advance(120_000)
    // The clock is past, but the scanner is not.
    expect(await release()).toBe(0)
    await api.engine.setCursor(chain.height, deps.clock.now())
    // Nor is an unconfirmed payment.
    expect(await release()).toBe(0)
    await stores.db.connection.collection('payments').updateMany({}, { $set: { state: 'confirmed' } })
    expect(await Promise.all([release(), release()]).then((counts) => counts.toSorted())).toEqual([0, 1])
    expect(await release()).toBe(0)

    // Scanned again now, the money of the first lease stays where it was and is no unmatched transfer.
    chain.height -= 1
    await pay(first, 1_000_000n, deps.clock.now() - HELD)
    expect([await paidOf(first.id), await unmatchedTransfers()]).toEqual([1_000_000n, []])

    await api.engine.publishRates()
    const second = await created()
    expect(second.address).toBe(first.address)
    await pay(second, second.amountBase)
    expect([await paidOf(first.id), await paidOf(second.id)]).toEqual([1_000_000n, second.amountBase])
  })

  /** A pool of one address whose first invoice ended unpaid and whose second one has it now. */
  async function handedOn(index: number): Promise<{ readonly first: CreatedInvoice; readonly second: CreatedInvoice }> {
    await add([addressAt(index)])
    const first = await created()
    api.engine.advance(HELD + 60_000)
    await api.engine.setCursor(chain.height, api.engine.deps.clock.now())
    expect(await releaseClaims(api.engine.deps)).toBe(1)
    await api.engine.publishRates()
    const second = await created()
    expect(second.address).toBe(first.address)
    return { first, second }
  }

  const detail = async () =>
    (await stores.db.connection.collection('exceptions').findOne({ kind: 'unmatched' }))?.['detail']
  const numberOf = async (id: string) => (await api.call('GET', `/invoices/${id}`)).json.data.number

  // Guarantee: a late payer of the invoice before never pays somebody else's invoice by a wrong amount.
  it('sends other than exact amounts to the inbox for a week, and names both invoices', async () => {
    const { first, second } = await handedOn(12)
    await pay(second, second.amountBase - 1n)
    await pay(second, second.amountBase + 1n)
    expect([await paidOf(first.id), await paidOf(second.id)]).toEqual([0n, 0n])
    expect(await unmatchedTransfers()).toHaveLength(2)
    expect(await detail()).toContain(`invoice ${await numberOf(second.id)} or invoice ${await numberOf(first.id)}`)
    await pay(second, second.amountBase)
    expect(await paidOf(second.id)).toBe(second.amountBase)
    expect((await api.call('GET', `/invoices/${second.id}`)).json.data.status).toBe('confirming')
  })

  // Guarantee: the same holds for another token on the address: it is nobody's mistake yet.
  it('leaves another asset on it to a person as well, and takes parts again after the week', async () => {
    const { first, second } = await handedOn(13)
    chain.height += 1
    const row = { matchKey: keyOf(second.address), address: second.address }
    const transfers = [
      { key: `test:ethereum:${chain.height}`, amountBase: second.amountBase, asset: 'usdc_ethereum' as const },
    ]
    const blocks = [blockWith(chain.height, api.engine.deps.clock.now(), row, transfers)]
    await recordBlockTransfers(api.engine.deps, { mode: 'test', network: 'ethereum', epoch: 1, blocks })
    expect(await paidOf(second.id)).toBe(0n)
    expect(await unmatchedTransfers()).toHaveLength(1)
    await pay(second, 1_000_000n, api.engine.deps.clock.now())
    expect(await paidOf(second.id)).toBe(0n)
    const invoice = await api.engine.deps.invoices.findById(second.id)
    const until = invoice?.state.paymentMethods[0]?.priorHold?.until ?? 0
    expect(invoice?.state.paymentMethods[0]?.priorHold).toMatchObject({
      invoiceId: first.id,
      workspaceId: api.engine.workspace.id,
    })
    expect(until - api.engine.deps.clock.now()).toBeGreaterThan(7 * DAY - 3_600_000)
    api.engine.advance(until + 1 - api.engine.deps.clock.now())
    await pay(second, 1_000_000n)
    expect(await paidOf(second.id)).toBe(1_000_000n)
  })

  // Guarantee: a reorganisation moves no money between invoices: it was attributed when it was first seen.
  it('keeps money where it was first seen when it is mined again after the address went on', async () => {
    await add([addressAt(14)])
    const { deps } = api.engine
    const first = await created()
    const seenAt = deps.clock.now()
    await pay(first, first.amountBase)
    await stores.db.connection.collection('payments').updateMany({}, { $set: { state: 'orphaned', block: null } })
    api.engine.advance(HELD + 60_000)
    await api.engine.setCursor(chain.height, deps.clock.now())
    expect(await releaseClaims(deps)).toBe(1)
    await api.engine.publishRates()
    const second = await created()
    chain.height -= 1
    await pay(first, first.amountBase, seenAt)
    expect([await paidOf(first.id), await paidOf(second.id)]).toEqual([first.amountBase, 0n])
    expect(await unmatchedTransfers()).toEqual([])
  })

  // Guarantee: on an address that two workspaces listed, neither reads the other's invoice numbers.
  it('names to each workspace its own invoice only when the address went from one to the other', async () => {
    const { deps } = api.engine
    const other = await api.newWorkspace()
    const { apiKey: otherKey } = await api.newKey('test', undefined, other.id)
    await add([addressAt(19)])
    await add([addressAt(19)], { workspaceId: other.id })
    await created()
    api.engine.advance(HELD + 60_000)
    await api.engine.setCursor(chain.height, deps.clock.now())
    expect(await releaseClaims(deps)).toBe(1)
    await api.engine.publishRates()
    const second = await created(otherKey)
    await pay(second, second.amountBase - 1n)
    const rows = await stores.db.connection.collection('exceptions').find({ kind: 'unmatched' }).toArray()
    expect(rows.map((row) => row['workspaceId']).toSorted()).toEqual([api.engine.workspace.id, other.id].toSorted())
    for (const row of rows) {
      const text = String(row['detail'])
      expect(text.match(/may be for invoice \d+\./)).not.toBeNull()
      expect(text).not.toContain(' or invoice ')
    }
  })

  // Guarantee: one unconfirmed payment keeps its own address, not those of other families that the payer turned away from.
  it('gives back what an invoice turned away from while it still waits elsewhere', async () => {
    const { deps } = api.engine
    await add([addressAt(20)])
    const waiting = await created()
    await pay(waiting, 1_000_000n)
    const state = async () => (await deps.invoices.findById(waiting.id))?.state
    const before = await state()
    const paymentMethod = before?.paymentMethods[0]
    if (before === undefined || paymentMethod === undefined) throw new Error('it has one')
    const left = {
      ...paymentMethod,
      family: 'tron' as const,
      network: 'tron' as const,
      matchKey: 'ab',
      claim: 'test:tron:ab',
      to: paymentMethod.from,
    }
    const change = { id: waiting.id, expectedVersion: before.version, expectedRefundSeq: 0, append: [], op: null }
    await deps.invoices.save({
      ...change,
      state: { ...before, version: before.version + 1, paymentMethods: [left, paymentMethod] },
    })
    api.engine.advance(HELD + 60_000)
    await api.engine.setCursor(chain.height, deps.clock.now())
    expect(await releaseClaims(deps)).toBe(1)
    expect((await state())?.paymentMethods.map(({ hold }) => hold?.releasedAt === null)).toEqual([false, true])
    expect(await deps.invoices.claimsTaken([left.claim, paymentMethod.claim])).toEqual(new Set([paymentMethod.claim]))
  })

  // Guarantee: addresses that rested come first; only a pool that is used up hands on young ones, the longest returned first.
  it('offers what has rested before what was given back lately', async () => {
    const { second } = await handedOn(15)
    await add([addressAt(16), addressAt(17)])
    api.engine.advance(3_000)
    const rested = [(await created()).address, (await created()).address]
    expect(rested.toSorted()).toEqual([addressAt(16), addressAt(17)].toSorted())
    expect(rested).not.toContain(second.address)
  })

  it('warns its owner once a day when a fifth or less is free, and stops when it is topped up', async () => {
    const { deps } = api.engine
    const { wallet } = await add([addressAt(6)])
    await created()
    await createPoolWatch(deps).run()
    await createPoolWatch(deps).run()
    const low = () => deps.exceptions.listOpen(api.engine.workspace.id)
    expect(await low()).toMatchObject([{ kind: 'addresses_low', detail: expect.stringContaining('0 of 1') }])
    expect(await stores.db.connection.collection('mails').countDocuments({ template: 'addresses_low' })).toBe(1)
    await add([addressAt(7), addressAt(8)])
    await createPoolWatch(deps).run()
    expect(await low()).toEqual([])
    expect(await deps.wallets.countHeld(wallet.materialId)).toBe(3)
  })

  // Guarantee: an address that two workspaces list is leased to one of them at a time, and money counts once.
  it('shared by two workspaces credits the one holder, and unmatched transfers reach both', async () => {
    const other = await api.newWorkspace()
    const { apiKey: otherKey } = await api.newKey('test', undefined, other.id)
    await add([addressAt(9)])
    await add([addressAt(9)], { workspaceId: other.id })
    await pay({ address: addressAt(9) }, 5_000_000n)
    expect((await unmatchedTransfers()).toSorted()).toEqual([api.engine.workspace.id, other.id].toSorted())
    const outcomes = await Promise.all([create(api.testKey), create(otherKey)])
    expect(outcomes.filter((one) => one === 'NO_WALLET_FOR_ASSET')).toHaveLength(1)
  })
})
