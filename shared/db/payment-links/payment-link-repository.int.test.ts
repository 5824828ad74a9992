import { describe, expect, it } from 'vitest'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { PaymentLink } from '#shared/ports/payment-links.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { PAYMENT_LINKS } from './payment-link-model.ts'
import { createPaymentLinkRepository } from './payment-link-repository.ts'

const stores = useStores()
const repository = () => createPaymentLinkRepository(stores.db)

function sample(overrides: Partial<PaymentLink> = {}): PaymentLink {
  return {
    id: stores.runtime.random.uuid(),
    workspaceId: 'ws-1',
    mode: 'test',
    status: 'active',
    title: 'Coffee',
    description: null,
    currency: 'EUR',
    amount: { kind: 'fixed', minor: 350n },
    productId: null,
    usesMax: null,
    expiresAt: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    deactivatedAt: null,
    ...overrides,
  }
}

describe('payment links', () => {
  it.each<PaymentLink['amount']>([
    { kind: 'fixed', minor: 99_999_999_999_999n },
    { kind: 'custom', minMinor: null, maxMinor: null },
    { kind: 'custom', minMinor: 100n, maxMinor: 99_999_999_999_999n },
  ])('come back as they were stored, in the shape that the schema describes: %o', async (amount) => {
    const link = sample({ amount, description: 'Black', productId: 'p-1' })
    expect(await repository().insert(link)).toEqual(link)
    expect(await repository().findInWorkspace('ws-1', 'test', link.id)).toEqual(link)
    const stored = await stores.db.collection(PAYMENT_LINKS).findOne({ _id: link.id })
    expect(PAYMENT_LINKS.schema.strict().safeParse(stored).error).toBeUndefined()
  })

  it('are stored once under one id', async () => {
    const link = sample()
    await repository().insert(link)
    expect(await repository().insert({ ...link, title: 'Tea' })).toEqual(link)
  })

  it('are invisible to other workspaces and to the other mode, for every operation', async () => {
    const { id } = (await repository().insert(sample())) ?? { id: '' }
    for (const [workspaceId, mode] of [
      ['ws-2', 'test'],
      ['ws-1', 'live'],
    ] as const) {
      expect(await repository().findInWorkspace(workspaceId, mode, id)).toBeNull()
      expect(await repository().deactivate(workspaceId, mode, id, 5_000)).toBeNull()
    }
    expect(await repository().findInWorkspace('ws-1', 'test', id)).toMatchObject({ status: 'active' })
  })

  // Guarantee: a link ends once; whoever ends it again changes nothing.
  it('end once, at the time of the first', async () => {
    const link = sample()
    await repository().insert(link)
    const ended = await Promise.all(
      [5_000, 6_000, 7_000].map((at) => repository().deactivate('ws-1', 'test', link.id, at)),
    )
    expect(new Set(ended.map((one) => JSON.stringify(one?.deactivatedAt))).size).toBe(1)
    const at = ended[0]?.deactivatedAt
    const expected = { ...link, status: 'inactive', deactivatedAt: at, updatedAt: at }
    expect(await repository().deactivate('ws-1', 'test', link.id, 9_000)).toEqual(expected)
    expect(await repository().deactivate('ws-1', 'test', 'unknown', 9_000)).toBeNull()
  })

  it('are counted while active, per workspace and mode, no further than asked', async () => {
    const workspaceId = 'ws-count'
    const links = [sample({ workspaceId }), sample({ workspaceId }), sample({ workspaceId })]
    for (const link of [...links, sample({ workspaceId, mode: 'live' })]) await repository().insert(link)
    expect(await repository().countActive(workspaceId, 'test', 10)).toBe(3)
    expect(await repository().countActive(workspaceId, 'test', 2)).toBe(2)
    await repository().deactivate(workspaceId, 'test', links[0]?.id ?? '', 5_000)
    expect(await repository().countActive(workspaceId, 'test', 10)).toBe(2)
    expect(await repository().countActive('ws-none', 'test', 10)).toBe(0)
  })

  it('know how many invoices were made from each', async () => {
    const [once, twice, never] = ['link-1', 'link-2', 'link-3'] as const
    const invoices = createInvoiceRepository(stores.db)
    for (const [nth, paymentLinkId] of [once, twice, twice, null].entries()) {
      const invoice = sampleInvoice(stores.runtime.random, { number: nth + 1 })
      await invoices.insert({ ...invoice, terms: { ...invoice.terms, paymentLinkId } })
    }
    expect(await repository().countUses([once, twice, never], Date.now())).toEqual(
      new Map([
        [once, 1],
        [twice, 2],
      ]),
    )
    expect(await repository().countUses([], Date.now())).toEqual(new Map())
  })

  it('are listed newest first, page by page', async () => {
    const workspaceId = 'ws-list'
    const made: PaymentLink[] = []
    for (let nth = 0; nth < 5; nth += 1) {
      const link = sample({ workspaceId })
      await repository().insert(link)
      made.unshift(link)
    }
    const query = { workspaceId, mode: 'test' as const, limit: 3 }
    expect(await repository().list({ ...query, beforeId: null })).toEqual(made.slice(0, 3))
    expect(await repository().list({ ...query, beforeId: made[2]?.id ?? '' })).toEqual(made.slice(3))
    expect(await repository().list({ ...query, mode: 'live', beforeId: null })).toEqual([])
  })
})
