import { HDNodeWallet } from 'ethers'
import { beforeAll, describe, expect, it } from 'vitest'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { createQuoteOffers } from '#shared/usecases/quotes/addresses.ts'
import { createQuoteAvailability } from '#shared/usecases/quotes/availability.ts'
import { createQuotePreparer } from '#shared/usecases/quotes/prepare-quote.ts'
import { createVisitorBudget } from '#shared/usecases/quotes/visitor-budget.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import { applyInvoiceEvent } from './apply-invoice-event.ts'
import { chooseAsset } from './choose-asset.ts'
import { snapshotInvoice } from './present-invoice.ts'
import { renewQuote } from './renew-quote.ts'
import { viewInvoice } from './view-invoice.ts'

const stores = useStores()
const MINUTE = 60_000
const visitor = { source: '198.51.100.1' }
const admit = async () => undefined
const noHints = { listByInvoice: async () => [] }
const address = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'/7").address
let engine: Engine
let height = 500
let deps: Parameters<typeof chooseAsset>[0]

beforeAll(async () => {
  engine = await openEngine(stores)
  const base = engine.deps
  const addresses = createQuoteOffers(base)
  const availability = createQuoteAvailability({ ...base, addresses })
  const budget = createVisitorBudget({ ...base, nodePrices: createNodePrices({ live: {}, test: {} }) })
  deps = {
    ...base,
    addresses,
    budget,
    paymentMethods: createQuotePreparer({ ...base, addresses, availability, budget }),
  }
})

/** The engine's clock goes on, and prices are published again. */
async function later(ms: number): Promise<void> {
  engine.advance(ms)
  await engine.publishRates()
}

describe('a new price', () => {
  it('keeps the address and its claim, and every promise before it', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await later(14 * MINUTE)
    const renewed = await renewQuote(deps, { invoiceId: invoice.terms.id, opId: 'a', visitor, admit })
    expect(renewed.state.version).toBe(2)
    expect(paymentMethodOf(renewed)).toMatchObject({
      address: paymentMethodOf(invoice).address,
      claim: paymentMethodOf(invoice).claim,
    })
    expect(paymentMethodOf(renewed).quotes).toHaveLength(2)
    expect(paymentMethodOf(renewed).quotes[0]).toEqual(paymentMethodOf(invoice).quotes[0])
    expect(renewed.state.expiresAt).toBe(paymentMethodOf(renewed).quotes[1]?.expiresAt)
    // A lost answer is asked for again; another click finds a price that holds.
    for (const opId of ['a', 'b']) {
      expect((await renewQuote(deps, { invoiceId: invoice.terms.id, opId, visitor, admit })).state.version).toBe(2)
    }
  })

  // Guarantee: a stranger with the invoice's address uses up no quotes by asking many times at once.
  it('is given once to many who ask at the same moment', async () => {
    await engine.publishRates()
    const { terms } = await engine.open({ asset: 'usdt_ethereum' })
    await later(15 * MINUTE)
    const input = { invoiceId: terms.id, visitor, admit }
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((opId) => renewQuote(deps, { ...input, opId })))
    const stored = await engine.deps.invoices.findById(terms.id)
    expect(stored === null ? [] : paymentMethodOf(stored).quotes).toHaveLength(2)
    expect(new Set(all.map((invoice) => invoice.state.version))).toEqual(new Set([2]))
  })

  it('ends after twenty promises', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    for (let count = 1; count < 20; count += 1) {
      await later(15 * MINUTE)
      const renewed = await renewQuote(deps, { invoiceId: invoice.terms.id, opId: `n${count}`, visitor, admit })
      expect(paymentMethodOf(renewed).quotes).toHaveLength(count + 1)
    }
    await later(15 * MINUTE)
    await expect(renewQuote(deps, { invoiceId: invoice.terms.id, opId: 'n20', visitor, admit })).rejects.toMatchObject({
      code: 'INVALID_STATE',
      internal: 'too_many_quotes',
    })
  })

  // Guarantee: a price is given for what is unpaid when it is stored, not for what was unpaid when it was read.
  it('is made again when a payment comes while it is made', async () => {
    await engine.publishRates()
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const invoiceId = invoice.terms.id
    await later(15 * MINUTE)
    let isPaid = false
    const rates: typeof deps.rates = {
      ...deps.rates,
      rateFor: async (request) => {
        if (!isPaid) {
          isPaid = true
          height += 1
          const transfers = [{ key: `test:ethereum:r${height}`, amountBase: 20_000_000n }]
          const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(invoice), transfers)
          await recordBlockTransfers(engine.deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
        }
        return await deps.rates.rateFor(request)
      },
    }
    const renewed = await renewQuote({ ...deps, rates }, { invoiceId, opId: 'race', visitor, admit })
    expect(renewed.state.status).toBe('partial')
    expect(paymentMethodOf(renewed).quotes.map(({ amountBase, rest }) => [amountBase, rest])).toEqual([
      [25_000_000n, undefined],
      [5_000_000n, { wholeBase: 25_000_000n, restBase: 5_000_000n }],
    ])
  })

  // Guarantee: a price belongs to the coin that it was made for. 25.00 USDT are 25,000,000 base units; as much of ETH is worth nothing.
  it('of one coin is never given on another one that the payer chooses while it is made', async () => {
    await engine.publishRates()
    const { terms } = await engine.open({ asset: 'usdt_ethereum' })
    const invoiceId = terms.id
    await later(15 * MINUTE)
    let hasChosen = false
    const rates: typeof deps.rates = {
      ...deps.rates,
      rateFor: async (request) => {
        if (!hasChosen) {
          hasChosen = true
          await chooseAsset(deps, { invoiceId, asset: 'eth_ethereum', opId: 'other', visitor, admit })
        }
        return await deps.rates.rateFor(request)
      },
    }
    const renewed = await renewQuote({ ...deps, rates }, { invoiceId, opId: 'swap', visitor, admit })
    expect(paymentMethodOf(renewed)).toMatchObject({ asset: 'eth_ethereum' })
    expect(paymentMethodOf(renewed).quotes).toHaveLength(1)
  })

  /** Guarantee: where amounts tell invoices apart, no two promises ever share one, old ones included. */
  it('claims its own amount on a shared address, and keeps the old one reserved', async () => {
    const input = { workspaceId: engine.workspace.id, mode: 'test', family: 'evm', kind: 'address' } as const
    await addWallet({ ...deps, ...engine.deps, ...engine } as never, { ...input, value: address })
    await engine.deps.wallets.markWatched('test', 'evm', 'ethereum', [address.slice(2).toLowerCase()])
    engine.advance(10_000)
    const open = async () => {
      const { terms } = await engine.open()
      return await chooseAsset(deps, { invoiceId: terms.id, asset: 'usdt_ethereum', opId: terms.id, visitor, admit })
    }
    await engine.publishRates()
    const invoice = await open()
    expect(paymentMethodOf(invoice)).toMatchObject({ address, hold: { kind: 'amount' } })
    await later(15 * MINUTE)
    const renewed = await renewQuote(deps, { invoiceId: invoice.terms.id, opId: 'r', visitor, admit })
    const amounts = paymentMethodOf(renewed).quotes.map(({ amountBase }) => amountBase)
    expect(new Set(amounts).size).toBe(2)
    expect(paymentMethodOf(renewed).formerClaims).toEqual([paymentMethodOf(invoice).claim])
    // The first amount is the merchant's own; each further one that a payer asks for draws on the visitors' budget.
    expect(paymentMethodOf(invoice).draws).toBeUndefined()
    expect(paymentMethodOf(renewed).draws).toHaveLength(2)
    expect(snapshotInvoice(deps.catalog, renewed.state).crypto?.uri).toContain(`uint256=${amounts[1]}`)
    const other = await open()
    expect(amounts).not.toContain(paymentMethodOf(other).quotes[0]?.amountBase)
  })

  /** Guarantee: also the rest of a price is an amount that no other invoice asks for, and paying exactly that settles. */
  it('for a rest claims its own amount on a shared address', async () => {
    const { terms } = await engine.open()
    const invoiceId = terms.id
    const renew = async (opId: string) => await renewQuote(deps, { invoiceId, opId, visitor, admit })
    const pay = async (amountBase: bigint) => {
      height += 1
      const to = { matchKey: address.slice(2).toLowerCase(), address }
      const block = blockWith(height, engine.deps.clock.now(), to, [{ key: `test:ethereum:r${height}`, amountBase }])
      await recordBlockTransfers(engine.deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
      await applyInvoiceEvent(deps, { invoiceId, event: { type: 'payments_changed' }, opId: null })
      return (await engine.deps.invoices.findById(invoiceId))?.state.status
    }
    await engine.publishRates()
    const first = await chooseAsset(deps, { invoiceId, asset: 'usdt_ethereum', opId: 'c', visitor, admit })
    const firstBase = paymentMethodOf(first).quotes[0]?.amountBase ?? 0n
    await later(15 * MINUTE)
    await engine.deps.rateSnapshots.insert(await halved())
    engine.advance(1_500)
    await renew('a')
    // The first amount belongs to the invoice for good: at the newer price it is half of what is due.
    expect(await pay(firstBase)).toBe('partial')
    // No invoice claims the difference: the page offers a new price at once instead of asking for money that nobody would find.
    const at = engine.deps.clock.now()
    const answer = await viewInvoice({ ...deps, ...engine.deps, hints: standIn(noHints) }, invoiceId)
    expect(answer?.canRenew).toBe(true)
    expect(answer?.paymentMethod?.quoteEndsAt).toBeLessThanOrEqual(at)
    expect(await pay(BigInt(answer?.paymentMethod?.remainingBase ?? 0n))).toBe('partial')
    const method = paymentMethodOf(await renew('b'))
    const [, second, rest] = method.quotes
    expect(method.formerClaims).toHaveLength(2)
    expect(method.claim).toContain(`${rest?.amountBase}`)
    expect(rest?.amountBase).toBeGreaterThan(rest?.rest?.restBase ?? 0n)
    // Half of 50.00, and what the amounts add.
    expect(second?.amountBase).toBeGreaterThan(50_000_000n)
    expect(rest?.amountBase).toBeLessThan(25_100_000n)
    expect(await pay(rest?.amountBase ?? 0n)).toBe('confirming')
  })
})

/** The newest prices, with USDT at half of what it was. */
async function halved() {
  const newest = await engine.deps.rateSnapshots.latest()
  const usdt = newest?.usdPerSymbol['USDT']
  if (newest === null || usdt === undefined) throw new Error('no rates')
  const at = engine.deps.clock.now()
  return { ...newest, at, usdPerSymbol: { ...newest.usdPerSymbol, USDT: { ...usdt, price: '0.5' } } }
}
