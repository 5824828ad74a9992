import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createMemoryTokenBuckets } from '#shared/queues/token-bucket.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { deepTest } from '#test/support/depth.ts'
import { blockWith, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
let stage: CheckoutStage
beforeAll(async () => {
  // No token comes back while a test runs, however long it takes.
  stage = await openCheckout(stores, { buckets: createMemoryTokenBuckets(() => 1_000_000) })
})
// The engine derives two dozen addresses at a time, and prices are good for two minutes, which a slow machine may need for the file.
beforeEach(async () => {
  await stage.engine.watchEverything()
  await stage.engine.publishRates()
})
afterAll(() => stage.close())

const claims = async (id: string) => (await stores.db.collection(INVOICES).findOne({ _id: id }))?.claims ?? []
let payers = 0
const payer = () => {
  payers += 1
  return `203.0.113.${payers}`
}
const choose = (id: string, asset: string, from = payer(), actionId: string = randomUUID()) =>
  stage.post(`/api/i/${id}/asset`, { asset, actionId }, from)

describe('what a payer sees', () => {
  /** Guarantee: nothing of the merchant's, the customer's or another invoice's reaches whoever has the link. */
  it('shows nothing but what is needed to pay', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const secrets = {
      metadata: [{ k: 'note', v: 'SECRET-METADATA' }],
      customer: { email: 'SECRET@example.com', name: 'SECRET-NAME' },
      orderId: 'A-1',
    }
    await stores.db.collection(INVOICES).updateOne({ _id: invoice.terms.id }, { $set: secrets })
    const { status, body, headers } = await stage.get(`/api/i/${invoice.terms.id}`)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(Object.keys(body)).toEqual(['now', 'view'])
    expect(Object.keys(body.view).sort()).toEqual(
      [
        'id mode number status version merchant orderId description fiat createdAt expiresAt paidAt successUrl cancelUrl',
        'paymentLinkId paymentMethod received books excess payments hints isPaidLate isAcceptedShort isUnread canChoose canRenew',
      ]
        .join(' ')
        .split(' ')
        .sort(),
    )
    expect(Object.keys(body.view.paymentMethod).sort()).toEqual(
      [
        'asset symbol network family isToken address due remaining remainingBase uri isExact requiredConfirmations needsFinality confirmMs blockTimeMs',
        'fiatPerAsset quotedAt quoteEndsAt evm browser',
      ]
        .join(' ')
        .split(' ')
        .sort(),
    )
    const text = JSON.stringify(body)
    expect(text).not.toMatch(/SECRET|metadata|customer|workspace|claim|matchKey|provenance|owner@example/)
    expect(text).not.toContain(stage.engine.workspace.id)
    expect(body.view).toMatchObject({ orderId: 'A-1', merchant: { name: 'Shop', contact: null } })
    // What is shown is what is copied and what the code holds, digit for digit.
    expect(body.view.paymentMethod).toMatchObject({
      due: '25.00',
      remaining: '25.00',
      remainingBase: '25000000',
      isToken: true,
    })
    expect(body.view.paymentMethod.evm.chainId).toBe(31337)
    expect(body.view.paymentMethod.uri).toContain('@31337/')
  })

  it('knows unknown and malformed ids as nothing, and answers what is unchanged without a body', async () => {
    for (const id of [randomUUID(), 'x', '%00']) {
      const { status, body } = await stage.get(`/api/i/${id}`)
      expect([status, body.error.code]).toEqual([404, 'NOT_FOUND'])
    }
    const invoice = await stage.engine.open()
    const first = await stage.get(`/api/i/${invoice.terms.id}`)
    const tag = first.headers.get('etag') ?? ''
    expect((await stage.get(`/api/i/${invoice.terms.id}`, { 'If-None-Match': tag })).status).toBe(304)
  })

  it('lists coins with a price, without what the amount is too small for', async () => {
    const invoice = await stage.engine.open({ minor: 2_500n })
    const { body } = await stage.get(`/api/i/${invoice.terms.id}/assets`)
    const usdt = body.assets.find(({ asset }: { asset: string }) => asset === 'usdt_ethereum')
    expect(usdt).toEqual({
      asset: 'usdt_ethereum',
      symbol: 'USDT',
      name: 'Tether USD',
      network: 'ethereum',
      estimate: '25.00',
      confirmMs: 36_000,
      isAvailable: true,
    })
    expect(body.holdMs).toBe(1_200_000)
    const tiny = await stage.engine.open({ minor: 1n })
    expect((await stage.get(`/api/i/${tiny.terms.id}/assets`)).body.assets).toEqual([])
  })
})

describe('choosing an asset', () => {
  /** Guarantee: however often and from however many tabs a payer clicks, one address is taken. */
  it('takes one address for 200 clicks at once', async () => {
    const invoice = await stage.engine.open()
    const from = payer()
    const actionId = randomUUID()
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => choose(invoice.terms.id, 'usdt_ethereum', from, actionId)),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(replies.map(({ body }) => body.view.paymentMethod.address)).size).toBe(1)
    expect(await claims(invoice.terms.id)).toHaveLength(1)
    // Another tab, another action, the same wish.
    expect((await choose(invoice.terms.id, 'usdt_ethereum', from)).status).toBe(200)
    expect(await claims(invoice.terms.id)).toHaveLength(1)
  })

  it('switches while nothing was seen, among at most five distinct assets', async () => {
    const invoice = await stage.engine.open()
    const from = payer()
    const assets = ['usdt_ethereum', 'usdc_ethereum', 'eth_ethereum', 'btc_bitcoin', 'usdt_tron']
    for (const asset of assets) {
      const { status, body } = await choose(invoice.terms.id, asset, from)
      expect([status, body.view.paymentMethod.asset]).toEqual([200, asset])
    }
    expect((await choose(invoice.terms.id, 'eth_ethereum', from)).body.view.paymentMethod.asset).toBe('eth_ethereum')
    const sixth = await choose(invoice.terms.id, 'usdc_solana', from)
    expect([sixth.status, sixth.body.error.code]).toEqual([409, 'INVALID_STATE'])
    expect((await stage.get(`/api/i/${invoice.terms.id}`)).body.view.canChoose).toBe(false)
  })

  it('refuses another asset once money was seen, and shows the rest that is due', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const paymentMethod = paymentMethodOf(invoice)
    const at = stage.engine.deps.clock.now()
    const block = blockWith(10, at, paymentMethod, [{ key: `part-${invoice.terms.id}`, amountBase: 24_000_000n }])
    await recordBlockTransfers(stage.engine.deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
    await applyInvoiceEvent(stage.engine.deps, {
      invoiceId: invoice.terms.id,
      event: { type: 'payments_changed' },
      opId: null,
    })
    const { body } = await stage.get(`/api/i/${invoice.terms.id}`)
    expect(body.view).toMatchObject({ status: 'partial', received: '24.00', canChoose: false, canRenew: true })
    expect(body.view.paymentMethod).toMatchObject({ remaining: '1.00', remainingBase: '1000000', due: '25.00' })
    expect(body.view.payments).toMatchObject([{ amount: '24.00', symbol: 'USDT', state: 'detected' }])
    expect(Object.keys(body.view.payments[0])).not.toContain('id')
    const other = await choose(invoice.terms.id, 'usdc_ethereum')
    expect([other.status, other.body.error.code]).toEqual([409, 'INVALID_STATE'])
  })

  /** Guarantee: no stranger uses up a merchant's addresses from one connection. */
  deepTest('stops an address that takes too many, and no other one', async () => {
    const from = payer()
    const statuses: number[] = []
    for (let count = 0; count < 22; count += 1) {
      if (count % 5 === 0) await stage.engine.watchEverything()
      const invoice = await stage.engine.open()
      const { status, headers } = await choose(invoice.terms.id, 'usdt_ethereum', from)
      statuses.push(status)
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(200))
    expect(statuses.slice(20)).toEqual([429, 429])
    const invoice = await stage.engine.open()
    expect((await choose(invoice.terms.id, 'usdt_ethereum')).status).toBe(200)
  })

  it('refuses bodies that are not JSON of the right form', async () => {
    const invoice = await stage.engine.open()
    const path = `/api/i/${invoice.terms.id}/asset`
    const good = { asset: 'usdt_ethereum', actionId: randomUUID() }
    expect((await stage.post(path, good, payer(), { 'Content-Type': 'text/plain' })).status).toBe(400)
    expect((await stage.post(path, { ...good, extra: 1 })).status).toBe(400)
    expect((await stage.post(path, { ...good, asset: 'gold_ethereum' })).status).toBe(400)
    expect((await stage.post(path, { ...good, actionId: 'x'.repeat(9_000) })).status).toBe(413)
    expect(await claims(invoice.terms.id)).toEqual([])
  })
})

describe('a new price', () => {
  it('is given on the same address in the last third, and not before', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const path = `/api/i/${invoice.terms.id}/price`
    const early = await stage.post(path, { actionId: randomUUID() }, payer())
    expect([early.status, early.body.view.version]).toEqual([200, invoice.state.version])
    stage.engine.advance(15 * 60_000)
    await stage.engine.publishRates()
    const actionId = randomUUID()
    const replies = await Promise.all([1, 2, 3].map(() => stage.post(path, { actionId }, payer())))
    for (const { status, body } of replies) {
      expect([status, body.view.version]).toEqual([200, invoice.state.version + 1])
      expect(body.view.paymentMethod.address).toBe(paymentMethodOf(invoice).address)
      expect(body.view.paymentMethod.quoteEndsAt).toBeGreaterThan(invoice.state.expiresAt)
    }
    stage.engine.advance(60 * 60_000)
    await stage.engine.publishRates()
    const over = await stage.post(path, { actionId: randomUUID() }, payer())
    expect([over.status, over.body.error.code]).toEqual([409, 'INVALID_STATE'])
  })

  it('says 503 while there is no price, and changes nothing', async () => {
    const invoice = await stage.engine.open()
    stage.engine.advance(10 * 60_000)
    const { status, body } = await choose(invoice.terms.id, 'usdt_ethereum')
    expect([status, body.error.code]).toEqual([503, 'RATES_UNAVAILABLE'])
    expect(await claims(invoice.terms.id)).toEqual([])
    await stage.engine.publishRates()
    // The checkout holds what it read of the rates for a second.
    stage.engine.advance(2_000)
  })
})

describe('a workspace that may not', () => {
  /** Guarantee: a suspended merchant's invoices stay visible and take no new promise. */
  it('shows its invoices and locks nothing while suspended', async () => {
    const { workspaces } = stage.engine.deps
    const invoice = await stage.engine.open()
    const locked = await stage.engine.open({ asset: 'usdt_ethereum' })
    await workspaces.update(stage.engine.workspace.id, { status: 'suspended' })
    try {
      const { body } = await stage.get(`/api/i/${locked.terms.id}`)
      expect(body.view).toMatchObject({ status: 'pending', canChoose: false, canRenew: false })
      const refused = await choose(invoice.terms.id, 'usdt_ethereum')
      expect([refused.status, refused.body.error.code]).toEqual([403, 'WORKSPACE_SUSPENDED'])
      await workspaces.update(stage.engine.workspace.id, { status: 'restricted' })
      expect((await choose(invoice.terms.id, 'usdt_ethereum')).status).toBe(200)
    } finally {
      await workspaces.update(stage.engine.workspace.id, { status: 'active' })
    }
  })
})

describe('live status', () => {
  /** Reads server-sent events until one of them fits. */
  async function until(url: string, fits: (event: string) => boolean): Promise<string> {
    const abort = new AbortController()
    const response = await fetch(url, { signal: abort.signal })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    try {
      for (;;) {
        const { value, done } = (await reader?.read()) ?? { value: '', done: true }
        if (done) throw new Error(`the stream ended after: ${text}`)
        text += value
        const found = text.split('\n\n').find(fits)
        if (found !== undefined) return found
      }
    } finally {
      abort.abort()
    }
  }

  it('begins with the present view and tells of each change', async () => {
    const invoice = await stage.engine.open()
    const url = `${stage.url}/api/i/${invoice.terms.id}/live`
    const first = await until(url, (event) => event.includes('event: view'))
    expect(first).toMatch(/^id: \S+\nevent: view\ndata: \{"now":\d+,"view":\{/)
    const pending = until(url, (event) => event.includes('"status":"pending"'))
    expect((await choose(invoice.terms.id, 'usdt_ethereum')).status).toBe(200)
    expect(await pending).toContain('"asset":"usdt_ethereum"')
    expect((await stage.get(`/api/i/${randomUUID()}/live`)).status).toBe(404)
  })

  it('lets one address hold only so many lines', async () => {
    const invoice = await stage.engine.open()
    const from = payer()
    const abort = new AbortController()
    const open = () =>
      fetch(`${stage.url}/api/i/${invoice.terms.id}/live`, {
        signal: abort.signal,
        headers: { 'X-Forwarded-For': from },
      })
    const lines = await Promise.all(Array.from({ length: 30 }, open))
    expect(new Set(lines.map(({ status }) => status))).toEqual(new Set([200]))
    const refused = await open()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
    await refused.text()
    abort.abort()
  })
})
