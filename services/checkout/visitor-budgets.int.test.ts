import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { chooseAsset } from '#shared/usecases/invoices/choose-asset.ts'
import { createInvoice } from '#shared/usecases/invoices/create-invoice.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { releaseClaims } from '#shared/usecases/wallets/release-claims.ts'
import { createPoolWatch } from '#shared/usecases/wallets/warn-low-pools.ts'
import { blockWith, paymentMethodOf } from '#test/support/engine.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { assembleCheckout } from './assemble.ts'
import type { CheckoutStage } from './checkout.fixture.ts'
import { openCheckoutParts } from './open-checkout-parts.ts'
import { sourceAt, useVisitors } from './visitors.fixture.ts'

const stores = useStores()
const visitors = useVisitors(stores)
const { addPool, visit, choose, openByApi, linkInvoices } = visitors
const HOUR = 3_600_000
/** Connections that come at once: several times what there is for them. */
const FLOOD = EVERY_CASE ? 200 : 60
/** Invoices of one connection, which switches five times on each. */
const SWITCHED = EVERY_CASE ? 40 : 16
let stage: CheckoutStage
beforeEach(() => {
  stage = visitors.stage()
})
const invoices = () => stores.db.collection(INVOICES)
const holding = async (filter: object) => await invoices().countDocuments({ claims: { $exists: true }, ...filter })
const warnings = async () => (await inbox()).filter(({ kind }) => kind === 'visitors_limited')
const inbox = async () => await stage.engine.deps.exceptions.listOpen(stage.engine.workspace.id)

describe('a pool of fifteen', () => {
  beforeEach(() => addPool(15))

  // Guarantee: one connection cannot take what the merchant's program needs, however often it switches.
  it('gives one connection two addresses however often it switches, and the merchant the rest', {
    timeout: 120_000,
  }, async () => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const ids = await linkInvoices(SWITCHED, link)
    const assets = ['usdt_ethereum', 'usdc_bsc', 'pol_polygon', 'eth_base', 'usdc_arbitrum'] as const
    const statuses = new Map<string, number>()
    for (const [turn, id] of ids.flatMap((one) => assets.map((asset) => [asset, one] as const))) {
      // Prices are good for two minutes, which a slow machine may need for all of them.
      if (turn === assets[0]) await stage.engine.publishRates()
      // All posts come from one /64; its last bytes change with each.
      const { status, body } = await choose(id, turn, `2001:db8:0:7::${statuses.size + 1}`)
      const outcome = `${status} ${body.error?.code ?? ''}`
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
    }
    expect([...statuses.keys()].sort()).toEqual(['200 ', '400 NO_WALLET_FOR_ASSET', '429 RATE_LIMITED'])
    expect(await holding({ source: 'link' })).toBe(2)
    for (let count = 0; count < 13; count += 1) await openByApi('usdt_ethereum')
    await expect(openByApi('usdt_ethereum')).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
  })

  // Guarantee: nor can any number of connections: half of the pool, rounded down, is never a visitor's.
  it('gives a flood of connections eight addresses, says so once, and keeps seven for the merchant', {
    timeout: 120_000,
  }, async () => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const replies = await Promise.all(
      Array.from({ length: FLOOD }, async (_, index) => {
        const { body } = await visit(link, sourceAt(index + 100))
        return await choose(body.invoice.id, 'usdt_ethereum', sourceAt(index + 100))
      }),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(8)
    const [refused] = replies.filter(({ status }) => status !== 200)
    expect([refused?.status, refused?.body.error.code]).toEqual([400, 'NO_WALLET_FOR_ASSET'])
    expect(refused?.body.error.message).toMatch(
      /^This coin has no free address right now. Choose another coin or try again in 14\d\d minutes.$/,
    )
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(24 * 3_600)
    expect(await holding({ source: 'link' })).toBe(8)
    expect(await warnings()).toHaveLength(1)
    expect((await warnings())[0]?.detail).toContain(
      'are using all 8 evm addresses (test) available to visitors, of 15 in total',
    )
    for (let count = 0; count < 7; count += 1) await openByApi('usdt_ethereum')
    // Another family is another pool: the sandbox of test mode derives as many as are needed.
    const { body } = await visit(link, sourceAt(90))
    expect((await choose(body.invoice.id, 'btc_bitcoin', sourceAt(90))).status).toBe(200)
  })

  // Guarantee: a visitor whose budget is spent is told so with the time to wait, also while all addresses are being tried by others.
  it('names the wait to each refused one of many who ask before anything is written', {
    timeout: 120_000,
  }, async () => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const ids = await linkInvoices(30, link)
    const { drawsTaken, save } = stage.deps.invoices
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    let looks = 0
    let saves = 0
    // Nothing is written before everybody has looked at the eight places and as many are about to take one.
    const pass = (): void => {
      if (looks >= ids.length && saves >= 8) open()
    }
    Object.assign(stage.deps.invoices, {
      drawsTaken: async (draws: readonly string[]) => {
        const taken = await drawsTaken(draws)
        if (draws.length === 8) looks += 1
        pass()
        return taken
      },
      save: async (change: Parameters<typeof save>[0]) => {
        saves += 1
        pass()
        await gate
        return await save(change)
      },
    })
    const chosen = await Promise.allSettled(
      ids.map((invoiceId, index) =>
        chooseAsset(stage.deps, {
          invoiceId,
          asset: 'usdt_ethereum',
          opId: invoiceId,
          visitor: { source: sourceAt(index) },
          admit: async () => undefined,
        }),
      ),
    )
    expect(chosen.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
    const refusals = chosen.filter((one) => one.status === 'rejected').map(({ reason }) => String(reason.message))
    expect(new Set(refusals.map((text) => text.replace(/14\d\d/, 'N')))).toEqual(
      new Set(['This coin has no free address right now. Choose another coin or try again in N minutes.']),
    )
  })

  // Guarantee: the bound holds over processes: places are claimed by the invoice write under a unique index.
  it('is not passed by two checkout processes that serve visitors at once', async () => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const ids = await linkInvoices(60, link)
    const context = serviceContext(stores, { PAYMESH_NETWORKS: JSON.stringify({ live: {}, test: {} }) })
    const { clock } = stage.engine.deps
    const second = assembleCheckout({
      ...openCheckoutParts({ ...context, clock }),
      notifier: { notify: () => undefined },
    })
    const outcomes = await Promise.allSettled(
      ids.map((invoiceId, index) =>
        chooseAsset(index % 2 === 0 ? stage.deps : second, {
          invoiceId,
          asset: 'usdt_ethereum',
          opId: invoiceId,
          visitor: { source: sourceAt(index) },
          admit: async () => undefined,
        }),
      ),
    )
    await second.nodes.close()
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
    const rejected = outcomes.filter((one) => one.status === 'rejected').map(({ reason }) => reason.code)
    expect(new Set(rejected)).toEqual(new Set(['NO_WALLET_FOR_ASSET']))
    expect(await holding({})).toBe(8)
    expect(await holding({ draws: { $exists: true } })).toBe(8)
  })

  // Guarantee: the first address of an invoice that the merchant's program made is the merchant's; races take no second one.
  it('gives an invoice of the merchant one address per family, also when its payer clicks on everything at once', async () => {
    const invoice = await openByApi()
    const assets = ['usdt_ethereum', 'usdc_ethereum', 'eth_ethereum', 'usdt_bsc', 'usdc_polygon'] as const
    const replies = await Promise.all(assets.map((asset, index) => choose(invoice.terms.id, asset, sourceAt(index))))
    expect(replies.map(({ status, body }) => [status, body.error?.message])).toEqual(Array(5).fill([200, undefined]))
    const stored = await invoices().findOne({ _id: invoice.terms.id })
    expect(stored?.claims).toHaveLength(1)
    // The payer's other networks watch for it, and no place of the pool is a visitor's.
    expect(stored?.draws?.every((place) => place.startsWith('watch:test:ethereum:'))).not.toBe(false)
    expect(new Set(stored?.paymentMethods.map(({ address }) => address)).size).toBe(1)
    expect(stored?.paymentMethods).toHaveLength(5)
  })

  // Guarantee: one price of a coin asks for the same amount on each of its networks, whose tokens have 6 or 18 decimals.
  it.each([
    [['usdt_ethereum', 'usdt_bsc', 'usdt_polygon', 'usdt_ethereum']],
    [['usdc_bsc', 'usdc_base', 'usdc_ethereum', 'usdc_bsc']],
  ] as const)('asks for the same amount on each network of a coin: %j', async (assets) => {
    const invoice = await openByApi()
    for (const asset of assets) {
      expect((await choose(invoice.terms.id, asset, sourceAt(1))).status).toBe(200)
      const { paymentMethods } = (await stage.engine.deps.invoices.findById(invoice.terms.id))?.state ?? {
        paymentMethods: [],
      }
      for (const paymentMethod of paymentMethods) {
        const [quote] = paymentMethod.quotes
        expect(quote?.amount).toBe('25')
        expect(quote?.amountBase).toBe(25n * 10n ** BigInt(paymentMethod.decimals))
      }
    }
  })

  it('serves payers again once others paid: the whole sum frees a place, a part of it does not', async () => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const from = sourceAt(1)
    const ids = await linkInvoices(4, link)
    const [first = '', second = '', third = ''] = ids
    expect((await choose(first, 'usdt_ethereum', from)).status).toBe(200)
    expect((await choose(second, 'usdt_ethereum', from)).status).toBe(200)
    expect((await choose(third, 'usdt_ethereum', from)).status).toBe(400)
    await pay(first, 3_000_000n)
    expect((await choose(third, 'usdt_ethereum', from)).status).toBe(400)
    await pay(first, 4_000_000n)
    expect((await stage.get(`/api/i/${first}`)).body.view.status).toBe('paid')
    expect((await choose(third, 'usdt_ethereum', from)).status).toBe(200)
  })

  it('gives addresses back a day after the last quote, and places with them', async () => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const from = sourceAt(1)
    const [first = '', second = '', third = ''] = await linkInvoices(3, link)
    for (const id of [first, second]) expect((await choose(id, 'usdt_ethereum', from)).status).toBe(200)
    stage.engine.advance(24 * HOUR + 19 * 60_000)
    await stage.engine.setCursor(10, stage.engine.deps.clock.now())
    expect(await releaseClaims(stage.engine.deps)).toBe(0)
    stage.engine.advance(2 * 60_000)
    // The scanner has not come that far yet.
    expect(await releaseClaims(stage.engine.deps)).toBe(0)
    await stage.engine.setCursor(11, stage.engine.deps.clock.now())
    expect(await releaseClaims(stage.engine.deps)).toBe(2)
    await stage.engine.publishRates()
    const later = await linkInvoices(1, link)
    expect(await holding({})).toBe(0)
    expect((await choose(later[0] ?? '', 'usdt_ethereum', from)).status).toBe(200)
    expect(third).not.toBe('')
  })

  it('keeps as much as the merchant says', async () => {
    const { workspaces } = stage.engine.deps
    const { id, policy } = stage.engine.workspace
    await workspaces.update(id, { policy: { ...policy, reservePercent: 90 } })
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const ids = await linkInvoices(5, link)
    const replies = await Promise.all(ids.map((one, index) => choose(one, 'usdt_ethereum', sourceAt(index))))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(2)
  })

  it('names no connection in what it stores', async () => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const [id = ''] = await linkInvoices(1, link)
    await choose(id, 'usdt_ethereum', '203.0.113.77')
    const stored = JSON.stringify(await invoices().findOne({ _id: id }))
    expect(stored).toContain('visitor:')
    expect(stored).not.toContain('203.0.113')
  })
})

/** Mines a transfer to the invoice's address and lets the invoice see it confirmed. */
let height = 100
async function pay(id: string, amountBase: bigint): Promise<void> {
  const { deps } = stage.engine
  const invoice = await deps.invoices.findById(id)
  if (invoice === null) throw new Error('no such invoice')
  height += 1
  const block = blockWith(height, deps.clock.now(), paymentMethodOf(invoice), [
    { key: `test:ethereum:${height}`, amountBase },
  ])
  await recordBlockTransfers(deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
  await stores.db.connection
    .collection('payments')
    .updateMany({}, { $set: { state: 'confirmed' }, $inc: { version: 1 } })
  await applyInvoiceEvent(deps, { invoiceId: id, event: { type: 'payments_changed' }, opId: null })
}

describe('a pool of one', () => {
  it('still serves a visitor: its reserve is rounded down', async () => {
    await addPool(1)
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const [first = '', second = ''] = await linkInvoices(2, link)
    expect((await choose(first, 'usdt_ethereum', sourceAt(1))).status).toBe(200)
    expect((await choose(second, 'usdt_ethereum', sourceAt(2))).status).toBe(400)
    // Used up by one visitor, it is offered to that visitor in every other asset all the same.
    await createPoolWatch(stage.engine.deps).run()
    const { body } = await stage.get(`/api/i/${first}/assets`)
    const usdc = body.assets.find(({ asset }: { asset: string }) => asset === 'usdc_ethereum')
    expect(usdc.isAvailable).toBe(true)
    expect((await choose(first, 'usdc_ethereum', sourceAt(1))).status).toBe(200)
  })
})

describe('a monthly plan', () => {
  // Guarantee: visitors of links cannot use up the plan; the merchant's program creates what is reserved for it.
  it('keeps half for the merchant when many visitors come at once', async () => {
    const { engine, deps } = stage
    await engine.deps.workspaces.update(engine.workspace.id, {
      limits: { invoicesPerMonth: 20, paymentLinks: null, webhookEndpoints: null },
    })
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const replies = await Promise.all(Array.from({ length: FLOOD }, (_, index) => visit(link, sourceAt(index + 100))))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10)
    const [refused] = replies.filter(({ status }) => status !== 200)
    expect([refused?.status, refused?.body.error]).toMatchObject([
      403,
      { code: 'PLAN_LIMIT_REACHED', message: expect.stringContaining('cannot take more payments') },
    ])
    expect((await warnings()).map(({ detail }) => detail)).toEqual([
      expect.stringContaining('10 of the 20 invoices of this month'),
    ])
    const workspace = await engine.deps.workspaces.findById(engine.workspace.id)
    if (workspace === null) throw new Error('it was there')
    const body = { amount: '5.00', minor: 500n, currency: 'USD' as const }
    const create = () => createInvoice(deps, { workspace, mode: 'test', body, source: 'api', idempotency: null })
    for (let count = 0; count < 10; count += 1) expect((await create()).outcome).toBe('created')
    await expect(create()).rejects.toMatchObject({ code: 'PLAN_LIMIT_REACHED' })
  })

  it('finds the invoice of a visitor who clicks again after the links used their share', async () => {
    const { engine } = stage
    await engine.deps.workspaces.update(engine.workspace.id, {
      limits: { invoicesPerMonth: 2, paymentLinks: null, webhookEndpoints: null },
    })
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const actionId = randomUUID()
    const send = (name = actionId) => stage.post(`/api/l/${link}/invoice`, { actionId: name }, sourceAt(6))
    const first = await send()
    expect([first.status, (await send(randomUUID())).status]).toEqual([200, 403])
    expect((await send()).body).toEqual(first.body)
  })
})
