import { beforeAll, describe, expect, it } from 'vitest'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import type { WorkspacePolicy } from '#shared/ports/workspaces.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { quoteAsset } from '#shared/usecases/invoices/quote-asset.ts'
import { renewQuote } from '#shared/usecases/invoices/renew-quote.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { updateWorkspace } from '#shared/usecases/workspaces/update-workspace.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { createQuoteOffers } from './addresses.ts'
import { createQuoteAvailability, listAssetOptions } from './availability.ts'
import { createVisitorBudget } from './visitor-budget.ts'

const stores = useStores()
const MINUTE = 60_000
let engine: Engine
let deps: Parameters<typeof renewQuote>[0]

beforeAll(async () => {
  engine = await openEngine(stores)
  deps = {
    ...engine.deps,
    addresses: createQuoteOffers(engine.deps),
    budget: createVisitorBudget({ ...engine.deps, nodePrices: createNodePrices({ live: {}, test: {} }) }),
  }
})

const setTiers = (confirmations: WorkspacePolicy['confirmations']) =>
  updateWorkspace(
    { ...engine.deps, epochs: { setWorkspaceEpoch: async () => undefined } },
    { workspaceId: engine.workspace.id, change: { policy: { confirmations } } },
  )
const shown = (id: string) => viewInvoice(engine.deps, id)

describe('confirmations by value', () => {
  // Guarantee: what the shop, the payer and the scanner go by is one figure, fixed when the asset was locked.
  it('are frozen at the lock and shown to shop and payer, by the value of the invoice', async () => {
    const small = await engine.open({ asset: 'btc_bitcoin', minor: 9_999n })
    const usual = await engine.open({ asset: 'btc_bitcoin', minor: 10_000n })
    const large = await engine.open({ asset: 'btc_bitcoin', minor: 10_000_000n })
    expect([small, usual, large].map((one) => paymentMethodOf(one).requiredConfirmations)).toEqual([1, 2, 6])
    const resource = presentInvoice(large.terms, snapshotInvoice(engine.deps.catalog, large.state), {
      checkoutBaseUrl: 'http://pay.test',
    })
    expect(resource.crypto?.required_confirmations).toBe(6)
    expect((await shown(large.terms.id))?.paymentMethod).toMatchObject({
      requiredConfirmations: 6,
      confirmMs: 60 * MINUTE,
    })
  })

  it('ask for a final block where the table says so, and promise no sooner than that', async () => {
    const large = await engine.open({ asset: 'usdc_base', minor: 1_000_000n })
    expect(paymentMethodOf(large)).toMatchObject({ requiredConfirmations: 100, needsFinality: true })
    expect((await shown(large.terms.id))?.paymentMethod).toMatchObject({ needsFinality: true, confirmMs: 16 * MINUTE })
    expect(paymentMethodOf(await engine.open({ asset: 'usdc_base', minor: 999_999n }))).not.toHaveProperty(
      'needsFinality',
    )
  })

  it('value other currencies by the rate that prices the lock', async () => {
    const { clock, paymentMethods, workspace } = { ...engine.deps, workspace: engine.workspace }
    const request = (minor: bigint) => {
      const at = clock.now()
      const fiat = { minor, currency: 'EUR' } as const
      return paymentMethods.prepare({
        workspace,
        mode: 'test',
        asset: 'btc_bitcoin',
        fiat,
        at,
        quoteEndsAt: at + MINUTE,
      })
    }
    // One US dollar is 0.5 of them.
    expect((await request(5_000n)).paymentMethod.requiredConfirmations).toBe(2)
    expect((await request(4_999n)).paymentMethod.requiredConfirmations).toBe(1)
  })

  it('stay what they were through a new price and a new policy', async () => {
    const invoice = await engine.open({ asset: 'btc_bitcoin', minor: 50_000n })
    await setTiers({ btc_bitcoin: [{ fromUsd: 0, confirmations: 20 }] })
    engine.advance(14 * MINUTE)
    await engine.publishRates()
    const renewed = await renewQuote(deps, {
      invoiceId: invoice.terms.id,
      opId: 'new price',
      visitor: { source: '198.51.100.1' },
      admit: async () => undefined,
    })
    expect(paymentMethodOf(renewed)).toMatchObject({ requiredConfirmations: 2, quotes: [{}, {}] })
  })

  it('of the workspace win over the usual ones, and the payer sees the time before choosing', async () => {
    await setTiers({
      btc_bitcoin: [
        { fromUsd: 0, confirmations: 3 },
        { fromUsd: 1_000, confirmations: 30 },
      ],
    })
    const workspace = await engine.deps.workspaces.findById(engine.workspace.id)
    expect(workspace?.policy.confirmations).toEqual({
      btc_bitcoin: [
        { fromUsd: 0, confirmations: 3 },
        { fromUsd: 1_000, confirmations: 30 },
      ],
    })
    const invoice = await engine.open({ minor: 100_000n })
    const availability = createQuoteAvailability({ ...engine.deps, addresses: createQuoteOffers(engine.deps) })
    const options = await listAssetOptions({ ...engine.deps, availability }, invoice.terms.id)
    expect(options?.assets.find(({ asset }) => asset === 'btc_bitcoin')?.confirmMs).toBe(300 * MINUTE)
    const choice = { invoiceId: invoice.terms.id, asset: 'btc_bitcoin', opId: 'choose' } as const
    const locked = await quoteAsset(engine.deps, choice)
    expect(paymentMethodOf(locked).requiredConfirmations).toBe(30)
  })
})
