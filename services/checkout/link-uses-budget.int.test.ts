import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { waitAfter } from '#shared/usecases/payment-links/pay-link.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const MINUTE = 60_000
const { choiceMs, quotesMax, forgottenAfterMs } = SCARCE.linkUses.budget
const stores = useStores()
let stage: CheckoutStage
let height = 100
beforeAll(async () => {
  // The budget of uses alone refuses here.
  stage = await openCheckout(stores, { buckets: { take: async () => ({ allowed: true, retryAfter: 1 }) } })
})
beforeEach(() => stage.engine.publishRates())
afterAll(() => stage.close())

const limited = (usesMax: number) => stage.link({ kind: 'fixed', minor: 700n }, usesMax)
const ATTACKER = '203.0.113.66'
let others = 0
const another = () => {
  others += 1
  return `198.51.100.${others}`
}
const pay = (link: string, from: string) => stage.post(`/api/l/${link}/invoice`, { actionId: randomUUID() }, from)
const choose = (id: string, from: string) =>
  stage.post(`/api/i/${id}/asset`, { asset: 'usdt_ethereum', actionId: randomUUID() }, from)
const stored = async (id: string) => {
  const found = await stage.engine.deps.invoices.findById(id)
  if (found === null) throw new Error('no invoice')
  return found.state
}

/** Time passes until a moment, the chain is read so far, and the invoices that are over end. */
async function goTo(at: number, ...ids: string[]): Promise<void> {
  stage.engine.advance(at - stage.engine.deps.clock.now())
  await stage.engine.publishRates()
  height += 1
  await stage.engine.setCursor(height, stage.engine.deps.clock.now())
  for (const id of ids) await advanceInvoice(stage.engine.deps, id)
}
const ended = async (id: string) => {
  const { expiresAt } = await stored(id)
  await goTo(expiresAt + 1, id)
  expect((await stored(id)).status).toBe('expired')
  return expiresAt
}

/** Chooses a coin and pays it. */
async function settle(id: string): Promise<void> {
  await choose(id, ATTACKER)
  const simulation = { workspaceId: stage.engine.workspace.id, mode: 'test', invoiceId: id, scenario: 'paid' } as const
  await simulatePayment({ ...stage.deps, ...stage.engine.deps }, { ...simulation, opId: randomUUID() })
  expect((await stored(id)).status).toBe('paid')
}

// Finding: 12 requests of one address without a payment took 3 of 3 uses of a link for 24 hours.
it('leaves a link of three uses to other payers, however often one connection asks', async () => {
  const link = await limited(3)
  const replies = await Promise.all(Array.from({ length: 12 }, () => pay(link, ATTACKER)))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  const refused = replies.find(({ status }) => status !== 200)
  expect([refused?.status, refused?.body.error]).toMatchObject([
    429,
    {
      code: 'RATE_LIMITED',
      details: [{ path: 'connection' }],
      message: expect.stringMatching(/try again in \d+ minutes/),
    },
  ])
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(60)
  expect((await pay(link, another())).status).toBe(200)
  expect((await pay(link, another())).status).toBe(200)
  const last = await pay(link, another())
  expect([last.status, last.body.error]).toMatchObject([
    409,
    {
      code: 'INVALID_STATE',
      message: expect.stringMatching(/^Every use of this payment link is taken. Try again in \d+ minutes.$/),
    },
  ])
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThanOrEqual(60)
  const page = await stage.get(`/api/l/${link}`)
  expect(page.body.link).toMatchObject({ isActive: false, isUsedUp: true, retryAfter: expect.any(Number) })
  expect(page.headers.get('retry-after')).toBe(String(page.body.link.retryAfter))
})

// Guarantee: a connection has a tenth of the uses and not one more, also when it asks for all of them at once.
it('gives one connection a tenth of the uses at a time, rounded up', async () => {
  const link = await limited(25)
  const from = ['2001:db8:0:9::1', '2001:db8:0:9:ffff::2']
  const replies = await Promise.all(Array.from({ length: 24 }, (_, index) => pay(link, from[index % 2] ?? '')))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(3)
  expect((await pay(link, '2001:db8:0:a::1')).status).toBe(200)
})

describe('the use of an unpaid invoice', () => {
  it('returns minutes after it was made while no coin is chosen', async () => {
    const link = await limited(1)
    const { id } = (await pay(link, ATTACKER)).body.invoice
    const { createdAt, expiresAt } = await stored(id)
    expect(expiresAt - createdAt).toBe(choiceMs)
    expect((await pay(link, another())).status).toBe(409)
    await ended(id)
    expect((await stage.get(`/api/l/${link}`)).body.link.isActive).toBe(true)
    expect((await pay(link, another())).status).toBe(200)
  })

  // Guarantee: whoever chooses coins and new prices for ever gets no more than a few quotes.
  it('returns after a bounded number of quotes', async () => {
    const link = await limited(1)
    const { id } = (await pay(link, ATTACKER)).body.invoice
    const { createdAt } = await stored(id)
    const { quoteMs } = stage.engine.workspace.policy
    await goTo(createdAt + choiceMs - MINUTE)
    expect((await choose(id, ATTACKER)).status).toBe(200)
    const renew = () => stage.post(`/api/i/${id}/price`, { actionId: randomUUID() }, ATTACKER)
    let renewed = 0
    for (;;) {
      await goTo((await stored(id)).expiresAt - MINUTE)
      const { status } = await renew()
      if (status !== 200) break
      renewed += 1
    }
    expect(renewed).toBeLessThan(quotesMax + 1)
    const end = await ended(id)
    expect(end - createdAt).toBeLessThanOrEqual(choiceMs + quotesMax * quoteMs)
    expect((await pay(link, another())).status).toBe(200)
  })

  it('counts no more for its connection once it is paid', async () => {
    const link = await limited(3)
    for (let count = 0; count < 3; count += 1) {
      const made = await pay(link, ATTACKER)
      expect(made.status).toBe(200)
      // With the last one nobody gets any.
      expect((await pay(link, ATTACKER)).status).toBe(count < 2 ? 429 : 409)
      const { id } = made.body.invoice
      await settle(id)
    }
    const last = await pay(link, another())
    expect([last.status, last.headers.get('retry-after')]).toEqual([409, null])
    expect(last.body.error.message).toBe('Every use of this payment link is taken.')
  })
})

describe('a connection that lets uses return', () => {
  // Guarantee: who sits on the only use without paying waits longer each time, and everybody else finds it free meanwhile.
  it('waits longer each time for the only one, and others do not', async () => {
    const link = await limited(1)
    let repeats = 0
    for (const _round of [1, 2, 3, 4]) {
      // Parallel requests, at the first moment: none of them forgets how often it was.
      const replies = await Promise.all(Array.from({ length: 6 }, () => pay(link, ATTACKER)))
      const made = replies.filter(({ status }) => status === 200)
      expect(made).toHaveLength(1)
      const end = await ended(made[0]?.body.invoice.id)
      const wait = waitAfter(repeats)
      if (wait > 0) {
        await goTo(end + wait - 10 * MINUTE)
        const refused = await pay(link, ATTACKER)
        expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED'])
        expect((await stage.get(`/api/l/${link}`)).body.link.isActive).toBe(true)
      }
      await goTo(end + Math.max(2, wait))
      repeats += 1
    }
    expect(waitAfter(repeats)).toBe(160 * MINUTE)
    expect((await pay(link, another())).status).toBe(200)
  })

  it('starts again after a day', async () => {
    const link = await limited(1)
    const take = async () => (await pay(link, ATTACKER)).body.invoice.id as string
    await ended(await take())
    const end = await ended(await take())
    expect((await pay(link, ATTACKER)).status).toBe(429)
    await goTo(end + forgottenAfterMs)
    await ended(await take())
    expect((await pay(link, ATTACKER)).status).toBe(200)
  })

  it('starts again after a payment', async () => {
    const link = await limited(3)
    const take = async () => (await pay(link, ATTACKER)).body.invoice.id as string
    await ended(await take())
    const end = await ended(await take())
    await goTo(end + waitAfter(1) + MINUTE)
    await settle(await take())
    await ended(await take())
    expect((await pay(link, ATTACKER)).status).toBe(200)
  })

  // Guards money: a connection that has to wait changes nothing of an invoice whose payer may be minutes late.
  it('takes no use from an ended invoice while it has to wait', async () => {
    const link = await limited(1)
    await ended((await pay(link, ATTACKER)).body.invoice.id)
    const second = (await pay(link, ATTACKER)).body.invoice.id
    await ended(second)
    const honest = (await pay(link, another())).body.invoice.id
    await ended(honest)
    expect((await pay(link, ATTACKER)).status).toBe(429)
    expect(await stores.db.collection(INVOICES).countDocuments({ _id: honest, linkUse: `${link}:1` })).toBe(1)
  })

  it('names no connection in what is stored', async () => {
    const link = await limited(1)
    const { id } = (await pay(link, ATTACKER)).body.invoice
    const text = JSON.stringify(await stores.db.collection(INVOICES).findOne({ _id: id }))
    expect(text).toContain(`use:${link}:`)
    expect(text).not.toContain('203.0.113')
  })
})

describe('a monthly plan', () => {
  // Guarantee: one connection cannot use up what the plan leaves to visitors, so that links go on selling for the rest of the month.
  it('leaves most of what visitors have to others, until the connection pays', async () => {
    const { engine } = stage
    await engine.deps.workspaces.update(engine.workspace.id, {
      limits: { invoicesPerMonth: 1_000, paymentLinks: null, webhookEndpoints: null },
    })
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const used = await stores.db.collection(INVOICES).countDocuments({})
    const replies = await Promise.all(Array.from({ length: 140 }, () => pay(link, ATTACKER)))
    expect(used).toBeLessThan(300)
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(125)
    const refused = replies.find(({ status }) => status !== 200)
    expect([refused?.status, refused?.body.error.code]).toEqual([403, 'PLAN_LIMIT_REACHED'])
    expect((await pay(link, another())).status).toBe(200)
  })
})
