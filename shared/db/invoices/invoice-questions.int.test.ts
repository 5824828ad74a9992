import { describe, expect, it } from 'vitest'
import type { NewInvoice } from '#shared/ports/invoices.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { createInvoiceRepository } from './invoice-repository.ts'

const stores = useStores()
const repository = () => createInvoiceRepository(stores.db)
const invoiceIn = (workspaceId: string, overrides: Parameters<typeof sampleInvoice>[1] = {}): NewInvoice =>
  sampleInvoice(stores.runtime.random, { workspaceId, ...overrides })
const workspace = () => stores.runtime.random.uuid()

async function inserted(invoice: NewInvoice): Promise<NewInvoice> {
  expect(await repository().insert(invoice)).toEqual({ inserted: true })
  return invoice
}

describe('lookups', () => {
  it('lists newest first with cursor, status, order and time bounds', async () => {
    const workspaceId = workspace()
    const ids: string[] = []
    const at = Date.now()
    for (let number = 1; number <= 5; number++) {
      const orderId = number % 2 === 0 ? 'even' : 'odd'
      ids.unshift((await inserted(invoiceIn(workspaceId, { number, orderId, at: at + number }))).terms.id)
    }
    const query = {
      workspaceId,
      mode: 'test' as const,
      limit: 10,
      beforeId: null,
      status: null,
      orderId: null,
      createdAfter: null,
      createdBefore: null,
    }
    const idsOf = async (overrides: Partial<Parameters<ReturnType<typeof repository>['list']>[0]>) =>
      (await repository().list({ ...query, ...overrides })).map((invoice) => invoice.terms.id)
    expect(await idsOf({})).toEqual(ids)
    expect(await idsOf({ limit: 2, beforeId: ids[1] ?? null })).toEqual(ids.slice(2, 4))
    expect(await idsOf({ orderId: 'even' })).toEqual([ids[1], ids[3]])
    expect(await idsOf({ status: 'paid' })).toEqual([])
    expect(await idsOf({ createdAfter: at + 2, createdBefore: at + 5 })).toEqual([ids[1], ids[2]])
    expect(await idsOf({ mode: 'live' })).toEqual([])
    expect(await repository().highestNumber(workspaceId, 'test')).toBe(5)
    expect(await repository().highestNumber(workspaceId, 'live')).toBe(0)
    expect(await repository().findInWorkspace(workspaceId, 'live', ids[0] ?? '')).toBeNull()
  })

  it('finds by idempotency key and frees the key only for the guard that was read', async () => {
    const workspaceId = workspace()
    const invoice = await inserted(invoiceIn(workspaceId, { idempotencyKey: 'old', at: 5_000 }))
    const found = await repository().findByIdempotencyKey(workspaceId, 'test', 'old')
    expect(found?.invoice.terms.id).toBe(invoice.terms.id)
    expect(found?.idempotency).toEqual(invoice.idempotency)
    if (invoice.idempotency === null) throw new Error('the sample has a guard')
    const release = (at: number) =>
      repository().releaseIdempotencyKey(invoice.terms.id, { key: 'old', fingerprint: '', requestId: '', at })
    expect(await release(5_001)).toBe(false)
    expect(await Promise.all([release(5_000), release(5_000)]).then((freed) => freed.filter(Boolean))).toHaveLength(1)
    expect(await repository().findByIdempotencyKey(workspaceId, 'test', 'old')).toBeNull()
  })

  // Guarantee: a released claim can be taken by another invoice, and no later change of the first one takes it back.
  it('finds who holds a claim or reference, and ends claims in one compare-and-set', async () => {
    const at = Date.now()
    const hold = { kind: 'address', quarantineMs: 86_400_000, heldMs: 2 * 86_400_000, releasedAt: null } as const
    const paymentMethods = [
      samplePaymentMethod('c0ffee10', at, { to: at + 1, hold, reference: 'abcd' }),
      samplePaymentMethod('c0ffee11', at, { formerClaims: ['test:evm:c0ffee99'] }),
    ]
    const invoice = await inserted(invoiceIn(workspace(), { at, state: { paymentMethods } }))
    const { id, workspaceId } = invoice.terms
    const holder = { invoiceId: id, workspaceId, number: invoice.terms.number, paymentMethods }
    const released = 'test:evm:c0ffee10'
    for (const claim of [released, 'test:evm:c0ffee99']) {
      expect(await repository().findByClaims([claim, 'unknown'])).toEqual([holder])
    }
    expect(await repository().findByReferences('test', ['abcd', 'ffff'])).toEqual([holder])
    expect(await repository().findByReferences('live', ['abcd'])).toEqual([])

    const due =
      Math.min(...paymentMethods.flatMap(({ quotes }) => quotes.map(({ expiresAt }) => expiresAt))) + hold.heldMs
    const mark = { invoiceId: id, releaseAt: due }
    expect(await repository().dueForRelease(due - 1, null, 10)).toEqual([])
    expect(await repository().dueForRelease(due, null, 10)).toEqual([mark])
    expect(await repository().dueForRelease(due, mark, 10)).toEqual([])

    const [pooled, own] = paymentMethods
    if (pooled === undefined || own === undefined) throw new Error('there are two')
    const state = { ...invoice.state, paymentMethods: [{ ...pooled, hold: { ...hold, releasedAt: at } }, own] }
    expect(await repository().releaseClaims(id, 7, state)).toBe(false)
    expect(await repository().releaseClaims(id, 1, state)).toBe(true)
    expect(await repository().findByClaims([released])).toEqual([])
    expect(await repository().claimsTaken([released, own.claim])).toEqual(new Set([own.claim]))
    expect(await repository().dueForRelease(due, null, 10)).toEqual([])
    expect(await repository().findByReferences('test', ['abcd'])).toHaveLength(1)

    const next = await inserted(invoiceIn(workspace(), { at, state: { paymentMethods: [pooled] } }))
    const change = { id, expectedVersion: 2, expectedRefundSeq: 0, append: [], op: null }
    expect(await repository().save({ ...change, state: { ...state, version: 3 } })).toBe(true)
    expect((await repository().findByClaims([released])).map(({ invoiceId }) => invoiceId)).toEqual([next.terms.id])
  })

  it('finds due actions by chain, oldest first, and forgets them when nothing is left to do', async () => {
    const at = 10_000
    const locked = (matchKey: string, nextActionAt: number) =>
      invoiceIn(workspace(), {
        at,
        state: {
          nextActionAt,
          paymentMethods: [samplePaymentMethod(matchKey, at, { network: 'polygon', asset: 'usdt_polygon' })],
        },
      })
    const later = await inserted(locked('c0ffee12', 12_000))
    const sooner = await inserted(locked('c0ffee13', 11_000))
    expect(await repository().dueForAction('test:polygon', 12_000, 10)).toEqual([sooner.terms.id, later.terms.id])
    expect(await repository().dueForAction('test:polygon', 12_000, 10, 1)).toEqual([later.terms.id])
    expect(await repository().dueForAction('test:polygon', 11_500, 10)).toEqual([sooner.terms.id])
    const state = { ...sooner.state, version: 2, nextActionAt: null }
    await repository().save({
      id: sooner.terms.id,
      expectedVersion: 1,
      expectedRefundSeq: 0,
      state,
      append: [],
      op: null,
    })
    expect(await repository().dueForAction('test:polygon', 12_000, 10)).toEqual([later.terms.id])
  })
})
