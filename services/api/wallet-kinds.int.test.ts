import { HDNodeWallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SLOTS_MAX } from '#shared/domain/money/amount-slot.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type AddWalletInput, addWallet } from '#shared/usecases/wallets/add-wallet.ts'
import { disableWallet } from '#shared/usecases/wallets/disable-wallet.ts'
import { releaseClaims } from '#shared/usecases/wallets/release-claims.ts'
import { walletGap } from '#shared/usecases/wallets/wallet-gap.ts'
import { createPoolWatch } from '#shared/usecases/wallets/warn-low-pools.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { blockWith } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const stores = useStores()
const DAY = 86_400_000
const HELD = 20 * 60_000 + DAY
const account = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'/1")
const addressAt = (index: number) => account.deriveChild(index).address
const keyOf = (address: string) => address.slice(2).toLowerCase()
let api: TestApi

beforeEach(async () => {
  api = await openApi(stores)
})
afterEach(async () => {
  await api.close()
  for (const name of ['wallets', 'invoices', 'addresses', 'payments', 'exceptions', 'mails', 'key_material']) {
    await stores.db.connection.collection(name).deleteMany({})
  }
})

/** Adds a wallet of listed addresses that the scanner of test Ethereum watches already. */
async function add(value: readonly string[], change: Partial<AddWalletInput> = {}) {
  const { engine } = api
  const input = { workspaceId: engine.workspace.id, mode: 'test', family: 'evm', kind: 'pool', ...change } as const
  const added = await addWallet({ ...engine.deps, ...engine }, { ...input, value: value.join('\n') })
  await engine.deps.wallets.markWatched('test', 'evm', 'ethereum', value.map(keyOf))
  return added
}

interface Asked {
  readonly id: string
  readonly address: string
  readonly amountBase: bigint
  readonly uri: string
}

async function create(key: string, asset = 'usdt_ethereum'): Promise<Asked | string> {
  const body = { amount: '25.00', currency: 'USD', asset }
  const { status, json } = await api.call('POST', '/invoices', { key, body })
  if (status !== 201) return String(json.error.code)
  const { address, amount_base_units: base, uri } = json.data.crypto
  return { id: json.data.id, address, amountBase: BigInt(base), uri }
}

async function created(key = api.testKey, asset?: string): Promise<Asked> {
  const asked = await create(key, asset)
  if (typeof asked === 'string') throw new Error(asked)
  return asked
}

let height = 100
async function pay(to: { readonly address: string }, amountBase: bigint, time = api.engine.deps.clock.now()) {
  height += 1
  const row = { matchKey: keyOf(to.address), address: to.address }
  const blocks = [blockWith(height, time, row, [{ key: `test:ethereum:${height}`, amountBase }])]
  await recordBlockTransfers(api.engine.deps, { mode: 'test', network: 'ethereum', epoch: 1, blocks })
}

async function paidOf(id: string): Promise<bigint> {
  await applyInvoiceEvent(api.engine.deps, { invoiceId: id, event: { type: 'payments_changed' }, opId: null })
  const { json } = await api.call('GET', `/invoices/${id}`)
  return BigInt(json.data.received.amount_base_units)
}

const strays = async () =>
  (await stores.db.connection.collection('exceptions').find({ kind: 'unmatched' }).toArray()).map((row) =>
    String(row['workspaceId']),
  )

describe('one address with unique amounts', () => {
  // Guarantee: no two open invoices on one address ask for the same amount, however many are created at once.
  it('asks 200 invoices of one price, created at once, for 200 different amounts', async () => {
    await add([addressAt(0)], { kind: 'address' })
    const keys = await Promise.all(Array.from({ length: 4 }, () => api.newKey('test')))
    const asked = await Promise.all(Array.from({ length: 200 }, (_, index) => create(keys[index % 4]?.apiKey ?? '')))
    expect(asked.filter((one) => typeof one === 'string')).toEqual([])
    const invoices = asked as Asked[]
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
    expect(await strays()).toEqual([api.engine.workspace.id])
  })

  it('does not credit money that came before the invoice', async () => {
    await add([addressAt(0)], { kind: 'address' })
    const asked = await created()
    await pay(asked, asked.amountBase, api.engine.deps.clock.now() - 300_000)
    expect(await paidOf(asked.id)).toBe(0n)
  })
})

describe('a pool', () => {
  it('leases each address to one invoice, then is exhausted, in the list and in a create', async () => {
    await add([addressAt(1), addressAt(2), addressAt(3)])
    const asked = await Promise.all([created(), created(), created()])
    expect(new Set(asked.map(({ address }) => address)).size).toBe(3)
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
    await api.engine.setCursor(height, deps.clock.now())
    expect(await release()).toBe(0)
    api.engine.advance(120_000)
    // The clock is past, but the scanner is not.
    expect(await release()).toBe(0)
    await api.engine.setCursor(height, deps.clock.now())
    // Nor is an unconfirmed payment.
    expect(await release()).toBe(0)
    await stores.db.connection.collection('payments').updateMany({}, { $set: { state: 'confirmed' } })
    expect(await Promise.all([release(), release()]).then((counts) => counts.toSorted())).toEqual([0, 1])
    expect(await release()).toBe(0)

    // Scanned again now, the money of the first lease stays where it was and is nobody's stray.
    height -= 1
    await pay(first, 1_000_000n, deps.clock.now() - HELD)
    expect([await paidOf(first.id), await strays()]).toEqual([1_000_000n, []])

    await api.engine.publishRates()
    const second = await created()
    expect(second.address).toBe(first.address)
    await pay(second, second.amountBase)
    expect([await paidOf(first.id), await paidOf(second.id)]).toEqual([1_000_000n, second.amountBase])
  })

  /** A pool of one address whose first invoice ended unpaid and whose second one has it now. */
  async function handedOn(index: number): Promise<{ readonly first: Asked; readonly second: Asked }> {
    await add([addressAt(index)])
    const first = await created()
    api.engine.advance(HELD + 60_000)
    await api.engine.setCursor(height, api.engine.deps.clock.now())
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
    expect(await strays()).toHaveLength(2)
    expect(await detail()).toContain(`invoice ${await numberOf(second.id)} or invoice ${await numberOf(first.id)}`)
    await pay(second, second.amountBase)
    expect(await paidOf(second.id)).toBe(second.amountBase)
    expect((await api.call('GET', `/invoices/${second.id}`)).json.data.status).toBe('confirming')
  })

  // Guarantee: the same holds for another token on the address: it is nobody's mistake yet.
  it('leaves another asset on it to a person as well, and takes parts again after the week', async () => {
    const { first, second } = await handedOn(13)
    height += 1
    const row = { matchKey: keyOf(second.address), address: second.address }
    const transfers = [
      { key: `test:ethereum:${height}`, amountBase: second.amountBase, asset: 'usdc_ethereum' as const },
    ]
    const blocks = [blockWith(height, api.engine.deps.clock.now(), row, transfers)]
    await recordBlockTransfers(api.engine.deps, { mode: 'test', network: 'ethereum', epoch: 1, blocks })
    expect(await paidOf(second.id)).toBe(0n)
    expect(await strays()).toHaveLength(1)
    await pay(second, 1_000_000n, api.engine.deps.clock.now())
    expect(await paidOf(second.id)).toBe(0n)
    const invoice = await api.engine.deps.invoices.findById(second.id)
    const until = invoice?.state.locks[0]?.priorHold?.until ?? 0
    expect(invoice?.state.locks[0]?.priorHold).toMatchObject({
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
    await api.engine.setCursor(height, deps.clock.now())
    expect(await releaseClaims(deps)).toBe(1)
    await api.engine.publishRates()
    const second = await created()
    height -= 1
    await pay(first, first.amountBase, seenAt)
    expect([await paidOf(first.id), await paidOf(second.id)]).toEqual([first.amountBase, 0n])
    expect(await strays()).toEqual([])
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
    await api.engine.setCursor(height, deps.clock.now())
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
    const lock = before?.locks[0]
    if (before === undefined || lock === undefined) throw new Error('it has one')
    const left = {
      ...lock,
      family: 'tron' as const,
      network: 'tron' as const,
      matchKey: 'ab',
      claim: 'test:tron:ab',
      to: lock.from,
    }
    const change = { id: waiting.id, expectedVersion: before.version, append: [], op: null }
    await deps.invoices.save({ ...change, state: { ...before, version: before.version + 1, locks: [left, lock] } })
    api.engine.advance(HELD + 60_000)
    await api.engine.setCursor(height, deps.clock.now())
    expect(await releaseClaims(deps)).toBe(1)
    expect((await state())?.locks.map(({ hold }) => hold?.releasedAt === null)).toEqual([false, true])
    expect(await deps.invoices.claimsTaken([left.claim, lock.claim])).toEqual(new Set([lock.claim]))
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

  // Guarantee: what an installation stored before this rule keeps the longer one, and its addresses need no exact amounts after it.
  it('keeps the longer rest of locks that were stored before, and gives them back all the same', async () => {
    await add([addressAt(18)])
    const { deps } = api.engine
    const first = await created()
    const stored = stores.db.connection.collection('invoices')
    const before = await stored.findOne({ _id: first.id as never })
    const expiresAt = Number(before?.['expiresAt'])
    const releaseAt = new Date(expiresAt + 8 * DAY)
    await stored.updateOne({ _id: first.id as never }, { $unset: { 'locks.0.hold.heldMs': '' }, $set: { releaseAt } })
    await applyInvoiceEvent(deps, { invoiceId: first.id, event: { type: 'deadline_reached' }, opId: null })
    api.engine.advance(HELD + DAY)
    await api.engine.setCursor(height, deps.clock.now())
    await applyInvoiceEvent(deps, { invoiceId: first.id, event: { type: 'deadline_reached' }, opId: null })
    expect((await stored.findOne({ _id: first.id as never }))?.['releaseAt']).toEqual(releaseAt)
    expect(await releaseClaims(deps)).toBe(0)
    api.engine.advance(7 * DAY)
    await api.engine.setCursor(height, deps.clock.now())
    expect(await releaseClaims(deps)).toBe(1)
    await api.engine.publishRates()
    const second = await created()
    expect(second.address).toBe(first.address)
    await pay(second, 1_000_000n)
    expect(await paidOf(second.id)).toBe(1_000_000n)
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
  it('shared by two workspaces credits the one holder, and strays reach both', async () => {
    const other = await api.newWorkspace()
    const { apiKey: otherKey } = await api.newKey('test', undefined, other.id)
    await add([addressAt(9)])
    await add([addressAt(9)], { workspaceId: other.id })
    await pay({ address: addressAt(9) }, 5_000_000n)
    expect((await strays()).toSorted()).toEqual([api.engine.workspace.id, other.id].toSorted())
    const outcomes = await Promise.all([create(api.testKey), create(otherKey)])
    expect(outcomes.filter((one) => one === 'NO_WALLET_FOR_ASSET')).toHaveLength(1)
  })
})

describe('a disabled wallet', () => {
  it('locks nothing more, and credits what it issued', async () => {
    const { wallet } = await add([addressAt(10)])
    const asked = await created()
    await disableWallet(api.engine.deps, { walletId: wallet.id, dryRun: false, actor: 'test' })
    api.engine.advance(6_000)
    // Test mode falls back to its built-in wallet.
    expect((await created()).address).not.toBe(addressAt(10))
    await pay(asked, asked.amountBase)
    expect(await paidOf(asked.id)).toBe(asked.amountBase)
  })
})

describe('Solana with one address', () => {
  it('puts a reference of its own into each payment link', async () => {
    const solana = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'
    await addWallet(
      { ...api.engine.deps, ...api.engine },
      { workspaceId: api.engine.workspace.id, mode: 'test', family: 'solana', kind: 'address', value: solana },
    )
    const asked = [await created(api.testKey, 'usdc_solana'), await created(api.testKey, 'sol_solana')]
    const references = asked.map(({ uri }) => new URL(uri).searchParams.get('reference'))
    expect(new Set(references).size).toBe(2)
    for (const reference of references) expect(reference).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/)
    // The last digits of the amount are the invoice’s own; zeros at its end are not written.
    expect(asked[0]?.uri).toMatch(/^solana:9B5X.*\?amount=25\.0000\d{1,2}&spl-token=EPjF/)
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
    const asked: Asked[] = []
    for (let count = 0; count < 6; count += 1) asked.push(await created())
    const fourth = asked[3]
    if (fourth === undefined) throw new Error('six were created')
    await pay(fourth, fourth.amountBase)
    await paidOf(fourth.id)
    const material = await deps.wallets.findMaterial(wallet.materialId)
    if (material === null) throw new Error('no material')
    expect(await walletGap(deps, { ...material, nextIndex: 6 })).toEqual({
      lastPaidIndex: 3,
      nextIndex: 6,
      requiredGap: 4,
    })
  })
})
