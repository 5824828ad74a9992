import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createProductRepository } from '#shared/db/payment-links/product-repository.ts'
import type { PaymentLinkChange } from '#shared/ports/payment-links.ts'
import { createMemoryTokenBuckets } from '#shared/queues/token-bucket.ts'
import { createPaymentLink } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, makePages, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
let stage: CheckoutStage
beforeAll(async () => {
  // No token comes back while a test runs, however long it takes.
  stage = await openCheckout(stores, { pagesDir: makePages(), buckets: createMemoryTokenBuckets(() => 1_000_000) })
})
beforeEach(() => stage.engine.publishRates())
afterAll(() => stage.close())

const made = (paymentLinkId: string) => stores.db.collection(INVOICES).countDocuments({ paymentLinkId })
const CUSTOM = { kind: 'custom', minMinor: 500n, maxMinor: 100_000n } as const

/** Guarantee: crawlers and previews that open a link page make nothing. */
it('makes nothing when it is opened', async () => {
  const id = await stage.link(CUSTOM)
  const { body } = await stage.get(`/api/l/${id}`)
  expect(body.link).toEqual({
    id,
    mode: 'test',
    isActive: true,
    merchant: { name: 'Shop', contact: null, logo: null, colour: null },
    title: 'Workshop',
    description: null,
    currency: 'USD',
    amount: { kind: 'custom', min: '5.00', max: '1000.00' },
  })
  expect(await made(id)).toBe(0)
  expect((await stage.get(`/api/l/${randomUUID()}`)).status).toBe(404)
})

/** Guarantee: a payer sees coins and prices of a link with a price before anything is made or reserved. */
it('lists the coins of a fixed price, and makes nothing', async () => {
  const id = await stage.link({ kind: 'fixed', minor: 700n })
  const { status, body } = await stage.get(`/api/l/${id}/assets`)
  expect(status).toBe(200)
  const usdt = { asset: 'usdt_ethereum', network: 'ethereum', estimate: '7.00', isAvailable: true }
  expect(body.assets).toContainEqual(expect.objectContaining(usdt))
  expect(body.holdMs).toBe(stage.engine.workspace.policy.quoteMs)
  expect(await made(id)).toBe(0)
  // The payer still has to name the amount.
  expect((await stage.get(`/api/l/${await stage.link(CUSTOM)}/assets`)).status).toBe(404)
  for (const unknown of [randomUUID(), 'x']) expect((await stage.get(`/api/l/${unknown}/assets`)).status).toBe(404)
})

/** Guarantee: a payer who clicks twice, or again after a lost answer, owes once. */
it('makes one invoice per action, however often and however parallel it is sent', async () => {
  const id = await stage.link(CUSTOM)
  const actionId = randomUUID()
  const send = () => stage.post(`/api/l/${id}/invoice`, { amount: '12.5', actionId }, '198.51.100.7')
  const replies = await Promise.all(Array.from({ length: 50 }, send))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(replies.map(({ body }) => body.invoice.id)).size).toBe(1)
  expect((await send()).body).toEqual(replies[0]?.body)
  expect(await made(id)).toBe(1)
  const { view } = (await stage.get(`/api/i/${replies[0]?.body.invoice.id}`)).body
  expect(view).toMatchObject({
    status: 'new',
    fiat: { value: '12.50', currency: 'USD' },
    paymentLinkId: id,
    description: 'Workshop',
    paymentMethod: null,
  })
  const mismatch = await stage.post(`/api/l/${id}/invoice`, { amount: '13', actionId }, '198.51.100.7')
  expect([mismatch.status, mismatch.body.error.code]).toEqual([409, 'IDEMPOTENCY_MISMATCH'])
})

it('checks the amount: bounds, form, and none where the price is fixed', async () => {
  const custom = await stage.link(CUSTOM)
  const fixed = await stage.link({ kind: 'fixed', minor: 700n })
  const post = (id: string, body: object) =>
    stage.post(`/api/l/${id}/invoice`, { ...body, actionId: randomUUID() }, '198.51.100.8')
  for (const amount of ['4.99', '1000.01', '1,50', '-5', '1e3', '10.001', '0', ' 10', '']) {
    const { status, body } = await post(custom, { amount })
    expect([amount, status, body.error.details[0].path]).toEqual([amount, 400, 'amount'])
  }
  expect((await post(custom, {})).status).toBe(400)
  expect((await post(fixed, { amount: '7.00' })).status).toBe(400)
  const ok = await post(fixed, {})
  expect((await stage.get(`/api/i/${ok.body.invoice.id}`)).body.view.fiat.value).toBe('7.00')
  expect(await made(custom)).toBe(0)
})

it('makes nothing new for an ended link or a restricted merchant, and still finds what was made', async () => {
  const id = await stage.link({ kind: 'fixed', minor: 700n })
  const actionId = randomUUID()
  const first = await stage.post(`/api/l/${id}/invoice`, { actionId }, '198.51.100.9')
  const { workspaces } = stage.engine.deps
  const refusals: unknown[] = []
  const again = async () => {
    const fresh = await stage.post(`/api/l/${id}/invoice`, { actionId: randomUUID() }, '198.51.100.9')
    const { isActive, isSuspended } = (await stage.get(`/api/l/${id}`)).body.link
    refusals.push([fresh.status, fresh.body.error.code, isActive, isSuspended])
    const cause = isSuspended === true ? 'Shop isn’t accepting payments right now.' : 'no longer active'
    expect((await stage.get(`/l/${id}/plain`)).body).toContain(cause)
    expect((await stage.post(`/api/l/${id}/invoice`, { actionId }, '198.51.100.9')).body).toEqual(first.body)
  }
  for (const status of ['restricted', 'suspended'] as const) {
    await workspaces.update(stage.engine.workspace.id, { status })
    await again()
  }
  await workspaces.update(stage.engine.workspace.id, { status: 'active' })
  const links = createPaymentLinkRepository(stores.db)
  await links.deactivate(stage.engine.workspace.id, 'test', id, stage.engine.deps.clock.now())
  await again()
  expect(refusals).toEqual([
    [403, 'WORKSPACE_RESTRICTED', false, true],
    [403, 'WORKSPACE_SUSPENDED', false, true],
    [409, 'INVALID_STATE', false, undefined],
  ])
})

it('stops an address that makes too many invoices', async () => {
  const id = await stage.link({ kind: 'fixed', minor: 700n })
  const statuses: number[] = []
  for (let count = 0; count < 21; count += 1) {
    statuses.push((await stage.post(`/api/l/${id}/invoice`, { actionId: randomUUID() }, '198.51.100.10')).status)
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  expect(statuses.at(-1)).toBe(429)
})

describe('a link with limits', () => {
  const limited = async (limits: { usesMax?: number; expiresAt?: number }) => {
    const linkId = randomUUID()
    const body = { kind: 'own', title: 'Seat', description: null, currency: 'USD', amount: CUSTOM } as const
    const repositories = {
      paymentLinks: createPaymentLinkRepository(stores.db),
      products: createProductRepository(stores.db),
    }
    const manage = { ...stage.deps, ...repositories, urls: { checkoutBaseUrl: stage.url } }
    await createPaymentLink(manage, { workspace: stage.engine.workspace, mode: 'test', body, linkId, limits })
    return linkId
  }
  let payers = 0
  const pay = (id: string, actionId: string = randomUUID()) => {
    payers += 1
    return stage.post(`/api/l/${id}/invoice`, { amount: '12.5', actionId }, `192.0.2.${payers}`)
  }

  // Guarantee: the last use is one payer's, however many come at the same moment.
  it('gives each use to one payer, also when many come at once', async () => {
    const id = await limited({ usesMax: 3 })
    const replies = await Promise.all(Array.from({ length: 12 }, () => pay(id)))
    const statuses = replies.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(3).fill(200), ...Array(9).fill(409)])
    expect(replies.find(({ status }) => status === 409)?.body.error.code).toBe('INVALID_STATE')
    expect(await made(id)).toBe(3)
    expect((await stage.get(`/api/l/${id}`)).body.link).toMatchObject({ isActive: false, isUsedUp: true })
  })

  it('returns the invoice of a repeated action, also after the last use is taken', async () => {
    const id = await limited({ usesMax: 1 })
    const actionId = randomUUID()
    const first = await pay(id, actionId)
    expect((await pay(id, actionId)).body).toEqual(first.body)
    expect((await pay(id)).status).toBe(409)
  })

  it('gives the use of an invoice that ended without any transfer to one other payer', async () => {
    const id = await limited({ usesMax: 1 })
    const { invoice } = (await pay(id)).body
    expect((await pay(id)).status).toBe(409)
    await stores.db.collection(INVOICES).updateOne({ _id: invoice.id }, { $set: { status: 'expired' } })
    expect((await stage.get(`/api/l/${id}`)).body.link.isActive).toBe(true)
    const replies = await Promise.all(Array.from({ length: 6 }, () => pay(id)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await stores.db.collection(INVOICES).countDocuments({ linkUse: `${id}:1` })).toBe(1)
  })

  // Guards money: an invoice that got any transfer, even too little or too late, keeps its use.
  it('never takes the use of an invoice that a transfer reached, or that is paid', async () => {
    const id = await limited({ usesMax: 1 })
    const { invoice } = (await pay(id)).body
    const set = (change: object) => stores.db.collection(INVOICES).updateOne({ _id: invoice.id }, { $set: change })
    await set({ status: 'expired', ledger: [{ payment: 'x', state: 'detected', counted: true }] })
    expect((await pay(id)).status).toBe(409)
    await set({ ledger: [{ payment: 'x', state: 'confirmed', counted: false, uncountedReason: 'out_of_quote' }] })
    expect((await pay(id)).status).toBe(409)
    await set({ status: 'paid', ledger: [] })
    expect((await pay(id)).status).toBe(409)
  })

  // Guarantee: a base unit of another coin, which costs its sender nothing, sells no use.
  it('takes the use of an invoice that only money which does not count reached', async () => {
    const id = await limited({ usesMax: 1 })
    const { invoice } = (await pay(id)).body
    const ledger = [{ payment: 'x', state: 'confirmed', counted: false, uncountedReason: 'wrong_asset' }]
    await stores.db
      .collection(INVOICES)
      .updateOne({ _id: invoice.id }, { $set: { status: 'expired', ledger } as never })
    expect((await pay(id)).status).toBe(200)
  })

  const change = async (id: string, terms: Partial<PaymentLinkChange>) => {
    const links = createPaymentLinkRepository(stores.db)
    const { id: workspaceId } = stage.engine.workspace
    const link = await links.findInWorkspace(workspaceId, 'test', id)
    if (link === null) throw new Error('no link')
    const { title, description, amount, usesMax = null, expiresAt = null, updatedAt: version } = link
    const row = {
      ...{ id: randomUUID(), at: 1, actor: 'user:ana@example.com', action: 'payment_link.updated' as const },
    }
    const audit = { ...row, subject: id, workspaceId, mode: 'test' as const, detail: {} }
    const wanted = { title, description, amount, usesMax, expiresAt, ...terms }
    expect(await links.update({ workspaceId, mode: 'test', id, version }, wanted, version + 1, audit)).toBe(true)
  }
  const heldBy = (id: string) => stores.db.collection(INVOICES).countDocuments({ linkUse: new RegExp(`^${id}:`) })

  // Guarantee: a lowered limit counts those who have a place above it, so that no more than the limit are sold from then on.
  it('gives no use while as many are held as a lowered limit has, wherever their places are', async () => {
    const id = await limited({ usesMax: 6 })
    const invoices: string[] = []
    for (let count = 0; count < 6; count += 1) invoices.push((await pay(id)).body.invoice.id)
    await change(id, { usesMax: 3 })
    const expire = (from: number, to: number) =>
      stores.db
        .collection(INVOICES)
        .updateMany({ _id: { $in: invoices.slice(from, to) } }, { $set: { status: 'expired' } })
    await expire(0, 3)
    expect((await stage.get(`/api/l/${id}`)).body.link).toMatchObject({ isActive: false, isUsedUp: true })
    expect((await pay(id)).status).toBe(409)
    expect(await heldBy(id)).toBe(6)
    // A place above the limit comes free: one payer gets a place, and the sum is the limit.
    await expire(3, 4)
    const replies = await Promise.all(Array.from({ length: 6 }, () => pay(id)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await heldBy(id)).toBe(3)
    await change(id, { usesMax: 4 })
    const more = await Promise.all(Array.from({ length: 6 }, () => pay(id)))
    expect(more.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await heldBy(id)).toBe(4)
  })

  // Guards money: a payer who sends an action again after the price changed owes once, what they agreed to.
  it('returns the invoice of a repeated action as it was made, also after the link was edited', async () => {
    const fixed = await stage.link({ kind: 'fixed', minor: 700n })
    const custom = await stage.link(CUSTOM)
    const send = (id: string, actionId: string, amount?: string) =>
      stage.post(`/api/l/${id}/invoice`, { actionId, ...(amount !== undefined && { amount }) }, '192.0.2.200')
    const [one, other] = [randomUUID(), randomUUID()]
    const before = [await send(fixed, one), await send(custom, other, '12.5')]
    expect(before.map(({ status }) => status)).toEqual([200, 200])
    await change(fixed, { amount: { kind: 'fixed', minor: 900n }, title: 'Dearer' })
    await change(custom, { amount: { kind: 'custom', minMinor: 5_000n, maxMinor: null } })
    expect((await send(fixed, one)).body).toEqual(before[0]?.body)
    expect((await send(custom, other, '12.5')).body).toEqual(before[1]?.body)
    expect([await made(fixed), await made(custom)]).toEqual([1, 1])
    const { view } = (await stage.get(`/api/i/${before[0]?.body.invoice.id}`)).body
    expect(view).toMatchObject({ fiat: { value: '7.00' }, description: 'Workshop' })
    const fresh = (await send(fixed, randomUUID())).body.invoice.id
    expect((await stage.get(`/api/i/${fresh}`)).body.view).toMatchObject({
      fiat: { value: '9.00' },
      description: 'Dearer',
    })
    expect((await send(custom, randomUUID(), '12.5')).status).toBe(400)
  })

  it('makes nothing from its end on', async () => {
    const end = stage.deps.clock.now() + 60_000
    const id = await limited({ expiresAt: end })
    expect((await pay(id)).status).toBe(200)
    await stores.db.collection(PAYMENT_LINKS).updateOne({ _id: id }, { $set: { expiresAt: new Date(end - 120_000) } })
    expect((await pay(id)).status).toBe(409)
    expect((await stage.get(`/api/l/${id}`)).body.link.isActive).toBe(false)
    await expect(limited({ expiresAt: 1 })).rejects.toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
  })
})
