import type mongoose from 'mongoose'
import { beforeAll, describe, expect, it } from 'vitest'
import { exceptionFilter } from '#shared/db/exceptions/exception-decisions.ts'
import { EXCEPTIONS, INBOX_CLOSED, INBOX_OPEN } from '#shared/db/exceptions/exception-model.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createOperatorPaymentLookups, operatorPaymentFilter } from '#shared/db/payments/admin-payment-lookups.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import type { InvoicePageQuery } from '#shared/ports/invoice-lookups.ts'
import { LIST_ORDERS } from '#shared/ports/list-order.ts'
import { sampleInvoice, sampleObservation, samplePaymentMethod } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { createInvoiceLookups, pageFilter, pageHint, pageSort } from './admin-invoice-lookups.ts'
import { INVOICES } from './invoice-model.ts'
import { createInvoiceRepository } from './invoice-repository.ts'

const stores = useStores()
const ROWS = 120

beforeAll(async () => {
  const { db, runtime } = stores
  const at = Date.now()
  const invoices = createInvoiceRepository(db)
  for (let row = 0; row < ROWS; row += 1) {
    const state = { paymentMethods: [samplePaymentMethod(`e0${row}`, at)] }
    const workspaceId = `ws-${row % 2}`
    await invoices.insert(sampleInvoice(runtime.random, { workspaceId, number: row, at, orderId: `o-${row}`, state }))
  }
  const observations = Array.from({ length: ROWS }, (_, row) =>
    sampleObservation(`k-${row}`, { workspaceId: `ws-${row % 2}` }),
  )
  await createPaymentRepository(db, runtime.random).recordObservations(observations, 1, at)
  const records = Array.from({ length: ROWS }, (_, row) => ({
    ...{ id: `late:${row}`, kind: 'late' as const, workspaceId: `ws-${row % 2}`, mode: 'test' as const },
    ...{ invoiceId: null, paymentKey: null, detail: 'x', openedAt: at + row, closedAt: null },
  }))
  const exceptions = createExceptionRepository(db)
  await exceptions.open(records)
  await exceptions.close(
    records.slice(0, ROWS / 2).map(({ id }) => id),
    at,
  )
})

/** The stages of the winning plan and the keys it read. */
async function plan(cursor: mongoose.mongo.FindCursor): Promise<{ stages: string; keys: number; documents: number }> {
  const explained = await cursor.explain('executionStats')
  const { executionStats, queryPlanner } = explained as unknown as {
    executionStats: { totalKeysExamined: number; totalDocsExamined: number }
    queryPlanner: { winningPlan: object }
  }
  return {
    stages: JSON.stringify(queryPlanner.winningPlan),
    keys: executionStats.totalKeysExamined,
    documents: executionStats.totalDocsExamined,
  }
}

const QUERY: InvoicePageQuery = {
  ...{ workspaceId: 'ws-1', mode: 'test', search: null, status: null, createdFrom: null, createdTo: null },
  ...{ asset: null, source: null, flag: null, limit: 10, beforeId: null },
}

describe('what operators look up', () => {
  it.each([
    ['a page', QUERY, 'invoice_list'],
    ['a page of one status', { ...QUERY, status: 'pending' }, 'invoice_list_by_status'],
    ['a number', { ...QUERY, search: { kind: 'number', number: 7, orderId: '7' } }, 'invoice_number'],
    ['an order', { ...QUERY, search: { kind: 'order', orderId: 'o-7' } }, 'invoice_list_by_order'],
    [
      'an e-mail address',
      { ...QUERY, search: { kind: 'email', email: 'payer@example.com' } },
      'invoice_list_by_customer',
    ],
    [
      'an address',
      { ...QUERY, search: { kind: 'address', claims: ['test:evm:e07'], prefixes: ['test:tron:e07'] } },
      'invoice_claims',
    ],
  ] as const)('reads an index for %s of invoices and sorts nothing', async (name, query, index) => {
    const hint = name === 'a number' ? 'invoice_number' : pageHint(query)
    for (const order of LIST_ORDERS) {
      const cursor = stores.db
        .collection(INVOICES)
        .find(pageFilter({ ...query, order }), hint === null ? {} : { hint })
        .sort(pageSort({ ...query, order }))
        .limit(10)
      const { stages, keys } = await plan(cursor)
      expect(stages).toContain(index)
      expect(stages).not.toContain('COLLSCAN')
      if (name !== 'a number' && name !== 'an address') expect(stages).not.toContain('"SORT"')
      expect(keys).toBeLessThanOrEqual(20)
    }
  })

  // Guarantee: a row that arrives between two pages moves none of the others, and each is read once, in both orders.
  it.each(LIST_ORDERS)('pages with the %s first show every row once while others arrive', async (order) => {
    const { db, runtime } = stores
    const lookups = createInvoiceLookups(db)
    const query = { ...QUERY, workspaceId: `ws-paged-${order}`, order, limit: 4 }
    const sample = (number: number) =>
      sampleInvoice(runtime.random, { workspaceId: query.workspaceId, number, at: Date.now() })
    // All of one moment: ids alone decide.
    const there = Array.from({ length: 10 }, (_, row) => sample(row))
    for (const invoice of there) await createInvoiceRepository(db).insert(invoice)
    const seen: string[] = []
    for (let beforeId: string | null = null, page = 0; ; page += 1) {
      const { invoices, next } = await lookups.page({ ...query, beforeId })
      seen.push(...invoices.map(({ terms }) => terms.id))
      if (next === null) break
      if (page === 0) await createInvoiceRepository(db).insert(sample(99))
      beforeId = next
    }
    const ids = there.map(({ terms }) => terms.id).sort()
    const expected = order === 'oldest' ? ids : ids.reverse()
    expect(seen.filter((id) => ids.includes(id))).toEqual(expected)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it.each(LIST_ORDERS)('pages of payments with the %s first show every row once', async (order) => {
    const lookups = createOperatorPaymentLookups(stores.db)
    const query = { workspaceId: 'ws-1', mode: 'test', network: null, counted: null, order, limit: 7 } as const
    const seen: string[] = []
    for (let beforeId: string | null = null; ; ) {
      const { payments, next } = await lookups.page({ ...query, createdFrom: 1, createdTo: null, beforeId })
      seen.push(...payments.map(({ id }) => id))
      if (next === null) break
      beforeId = next
    }
    expect(seen).toHaveLength(ROWS / 2)
    expect(seen).toEqual(order === 'oldest' ? seen.toSorted() : seen.toSorted().reverse())
  })

  it('reads an index for payments, forwards and backwards', async () => {
    const scope = { workspaceId: 'ws-1', mode: 'test' as const, createdFrom: null, createdTo: null }
    for (const direction of [1, -1] as const) {
      const filter = operatorPaymentFilter(scope, {})
      const cursor = stores.db.collection(PAYMENTS).find(filter).sort({ _id: direction }).limit(10)
      const { stages, keys } = await plan(cursor)
      expect(stages).toContain('payment_list')
      expect(stages).not.toContain('"SORT"')
      expect(keys).toBeLessThanOrEqual(12)
    }
  })

  it('reads an index for the inbox, open and closed', async () => {
    for (const open of [true, false]) {
      const query = { workspaceId: 'ws-1', mode: 'test' as const, open, kinds: [], limit: 10, after: null }
      const order = open ? ({ openedAt: 1, _id: 1 } as const) : ({ closedAt: -1, _id: -1 } as const)
      const hint = open ? INBOX_OPEN : INBOX_CLOSED
      const cursor = stores.db.collection(EXCEPTIONS).find(exceptionFilter(query), { hint }).sort(order).limit(10)
      const { stages, documents } = await plan(cursor)
      expect(stages).not.toContain('"SORT"')
      expect(documents).toBeLessThanOrEqual(12)
    }
  })

  it('reads an index for refunds and for erasures that are due', async () => {
    const refunds = stores.db.collection(REFUNDS).find({ invoiceId: 'i' }).sort({ createdAt: -1 })
    expect((await plan(refunds)).stages).toContain('refund_invoice')
    const due = stores.db
      .collection(INVOICES)
      .find({ eraseSweepAt: { $lte: new Date() } }, { hint: 'invoice_erase_sweep' })
    expect((await plan(due)).keys).toBe(0)
  })
})
