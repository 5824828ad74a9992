import type mongoose from 'mongoose'
import { beforeAll, describe, expect, it } from 'vitest'
import { chainedFilter, createAuditChainRepository, WAITING } from '#shared/db/audit/audit-chain-repository.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository, dueRowsQuery } from '#shared/db/deliveries/delivery-repository.ts'
import { dueEndpoints } from '#shared/db/deliveries/delivery-scopes.ts'
import * as invoiceScopes from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { listSort } from '#shared/db/payment-links/list-order.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import {
  createPaymentLinkRepository,
  linkListFilter,
  usesPipeline,
} from '#shared/db/payment-links/payment-link-repository.ts'

import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { createProductRepository, productFilter } from '#shared/db/payment-links/product-repository.ts'
import * as paymentScopes from '#shared/db/payments/payment-mapping.ts'
import { BY_KEY } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { changedFilter } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { bookedFilter } from '#shared/db/reports/book-reads.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { LIST_ORDERS } from '#shared/ports/list-order.ts'
import { sampleDelivery, sampleInvoice, sampleObservation, samplePaymentMethod } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { expectIndexed, read } from './explain-plan.fixture.ts'

const stores = useStores()
const WORKSPACES = ['ws-1', 'ws-2']
const ROWS = 60
const NETWORK = { mode: 'test', network: 'ethereum' } as const

/** Enough rows of every kind that a planner without the right index would choose another plan. */
beforeAll(async () => {
  const { db, runtime } = stores
  const at = Date.now()
  for (let row = 0; row < ROWS; row++) {
    const workspaceId = WORKSPACES[row % 2] ?? ''
    const paymentMethods = [samplePaymentMethod(`e0${row}`, at)]
    const invoice = sampleInvoice(runtime.random, {
      workspaceId,
      number: row,
      at,
      orderId: `o-${row}`,
      state: { paymentMethods },
    })
    await createInvoiceRepository(db).insert(invoice)
  }
  const observations = Array.from({ length: ROWS }, (_, row) =>
    sampleObservation(`k-${row}`, { invoiceId: `i-${row}` }),
  )
  await createPaymentRepository(db, runtime.random).recordObservations(observations, 1, at)
  await createDeliveryRepository(db).insertMany(
    Array.from({ length: 600 }, (_, row) => sampleDelivery(`whd_${row}`, { endpointId: `e-${row % 6}`, dueAt: row })),
  )
  await createWalletRepository(db).addDerived(
    'material',
    Array.from({ length: ROWS }, (_, index) => ({
      mode: 'test' as const,
      family: 'evm' as const,
      matchKey: `a${index}`,
      address: `0xa${index}`,
      materialId: 'material',
      index,
      watchedOn: index % 2 === 0 ? (['base'] as const) : (['base', 'bsc'] as const),
    })),
    ROWS,
  )
})

const LIST = {
  workspaceId: 'ws-1',
  mode: 'test' as const,
  limit: 10,
  beforeId: null,
  status: null,
  orderId: null,
  createdAfter: null,
  createdBefore: null,
}

describe('invoices', () => {
  const explain = async (filter: object, sort: Record<string, 1 | -1> = {}) =>
    read(
      await stores.db
        .collection<mongoose.mongo.Document>(INVOICES)
        .find(filter)
        .sort(sort)
        .limit(10)
        .explain('executionStats'),
    )
  const list = (overrides: Partial<Parameters<typeof invoiceScopes.listed>[0]>) =>
    explain(invoiceScopes.listed({ ...LIST, ...overrides }), { _id: -1 })

  it('lists by workspace, status and order without sorting', async () => {
    expectIndexed(await list({}), 'invoice_list')
    expectIndexed(await list({ beforeId: 'ffffffff', createdAfter: 1 }), 'invoice_list')
    expectIndexed(await list({ status: 'expired' }), 'invoice_list_by_status')
    expectIndexed(await list({ orderId: 'o-4' }), 'invoice_list_by_order')
  })

  it('finds due actions, outbox work, claims, references, claims to release and idempotency keys', async () => {
    const now = Date.now()
    expectIndexed(
      await explain(invoiceScopes.dueForAction('test:ethereum', now), { nextActionAt: 1 }),
      'invoice_next_action',
    )
    expectIndexed(await explain(invoiceScopes.dueForActions(['none', 'test:ethereum'], now)), 'invoice_next_action')
    for (const from of [null, 1_000]) {
      expectIndexed(await explain(invoiceScopes.withWaitingOutbox([1, 2, 5], from), { outboxAt: 1 }), 'invoice_outbox')
    }
    expectIndexed(await explain(invoiceScopes.overdueInShards([0, 1, 2], now)), 'invoice_outbox')
    expectIndexed(await explain(invoiceScopes.overdueInShard(1, now)), 'invoice_outbox')
    expectIndexed(await explain(invoiceScopes.withReferences('test', ['aa', 'bb'])), 'invoice_reference')
    for (const after of [null, { invoiceId: 'i-1', releaseAt: 1 }]) {
      expectIndexed(await explain(invoiceScopes.dueForRelease(now, after), { releaseAt: 1, _id: 1 }), 'invoice_release')
    }
    expectIndexed(await explain(invoiceScopes.withMethodOn('test', 'ethereum', now)), 'invoice_method_deadline')
    expectIndexed(await explain(invoiceScopes.holdingClaims(['test:evm:e01', 'x'])), 'invoice_claims')
    expectIndexed(await explain(invoiceScopes.holdingDraws(['visitor:m:1', 'x'])), 'invoice_draws')
    expectIndexed(await explain(invoiceScopes.holdingPlaceOf('use:link-1:aaaa')), 'invoice_draws')
    expectIndexed(await explain(invoiceScopes.quarantining(['test:evm:e01', 'x'], now)), 'invoice_returned')
    expectIndexed(await explain(invoiceScopes.withIdempotencyKey('ws-1', 'test', 'k')), 'invoice_idempotency_key')
    expectIndexed(await explain({ workspaceId: 'ws-1', mode: 'test' }, { number: -1 }), 'invoice_number')
  })
})

describe('books', () => {
  it('walks changes in their order, and finds holders of keys, payments and events of many invoices', async () => {
    const explain = async (name: string, filter: object, sort: Record<string, 1 | -1> = {}) =>
      read(await stores.db.connection.collection(name).find(filter).sort(sort).limit(10).explain('executionStats'))
    const changed = changedFilter({ at: 1, invoiceId: 'i-1' }, Date.now())
    expectIndexed(await explain('invoices', changed, { updatedAt: 1, _id: 1 }), 'invoice_changed')
    const keys = ['a', 'b'].map((key) => ({ workspaceId: 'ws-1', mode: 'test', 'idem.key': key }))
    expectIndexed(await explain('invoices', { $or: keys }), 'invoice_idempotency_key')
    const many = { invoiceId: { $in: ['i-1', 'i-2'] } }
    expectIndexed(await explain('payments', many), 'payment_invoice')
    expectIndexed(await explain('events', many), 'event_invoice_seq')
  })
})

describe('payments', () => {
  const explain = async (filter: object, sort: Record<string, 1 | -1> = {}) =>
    read(
      await stores.db
        .collection<mongoose.mongo.Document>(PAYMENTS)
        .find(filter)
        .sort(sort)
        .limit(10)
        .explain('executionStats'),
    )

  it('lists, folds and sweeps by index', async () => {
    const query = { workspaceId: 'ws-1', mode: 'test' as const, invoiceId: null, limit: 10, beforeId: null }
    expectIndexed(await explain(paymentScopes.listed(query), { _id: -1 }), 'payment_list')
    expectIndexed(await explain({ invoiceId: 'i-1' }, { _id: 1 }), 'payment_invoice')
    const booked = bookedFilter({ workspaceId: 'ws-1', mode: 'test', since: 1, until: 9 })
    expectIndexed(await explain(booked, {}), 'payment_booked')
    expectIndexed(await explain(paymentScopes.unapplied(Date.now()), { dirtyAt: 1 }), 'payment_dirty')
  })

  it('answers people on call by transaction and by block', async () => {
    for (const byKey of [
      BY_KEY.one('test:ethereum:0x1:0'),
      BY_KEY.among(['test:ethereum:0x1:0', 'test:ethereum:0x2:0']),
      BY_KEY.beginningWith('test:ethereum:0x1'),
    ]) {
      expect((await explain(byKey)).indexes).toEqual(['payment_key_digest'])
    }
    const inBlocks = paymentScopes.liveInBlocks({ ...NETWORK, from: 1, to: 9 })
    expect((await explain(inBlocks)).indexes).toEqual(['payment_block'])
    const coins = { matchKey: { $in: ['e1'] }, asset: 'eth_ethereum', kind: 'onchain' }
    expect((await explain({ ...inBlocks, ...coins })).stages).not.toContain('COLLSCAN')
  })

  it('confirms and orphans by height', async () => {
    const due = paymentScopes.dueForConfirmation({ ...NETWORK, height: 10, finalizedHeight: 9 })
    expectIndexed(await explain(due), 'payment_confirm')
    expectIndexed(await explain(paymentScopes.unconfirmed('test', 'ethereum')), 'payment_confirm')
    expectIndexed(await explain(paymentScopes.above({ ...NETWORK, forkHeight: 500 })), 'payment_block')
    const blocks = [500, 600].map((height) => ({ height, hash: '0x1' }))
    expectIndexed(await explain(paymentScopes.notInTheseBlocks({ ...NETWORK, blocks })), 'payment_block')
  })
})

describe('deliveries', () => {
  // Guarantee: the sweep's cost follows the number of endpoints, not the backlog.
  it('finds due endpoints by skipping from one to the next', async () => {
    const cursor = stores.db.collection(WEBHOOK_DELIVERIES).aggregate(dueEndpoints(Date.now(), 100))
    const explained = read(await cursor.explain('executionStats'))
    expect(explained.stages).toContain('DISTINCT_SCAN')
    expect(explained.indexes).toEqual(['delivery_due'])
    expect(explained.keysExamined).toBeLessThan(20)
  })

  // Guarantee: a claim for several endpoints reads what it takes, not their backlogs.
  it('merges the due rows of several endpoints from the index', async () => {
    for (const from of [null, 1_000]) {
      const { filter, hint, sort } = dueRowsQuery(['e-1', 'e-2', 'e-3'], from)
      const cursor = stores.db.collection(WEBHOOK_DELIVERIES).find(filter, { hint }).sort(sort).limit(12)
      const explained = read(await cursor.explain('executionStats'))
      expectIndexed(explained, 'delivery_due')
      expect(explained.stages).toContain('SORT_MERGE')
      expect(explained.keysExamined).toBeLessThan(20)
    }
  })
})

describe('addresses', () => {
  // Guarantee: asking for unmarked addresses stays cheap with a million of them.
  it('skips through the combinations of marks', async () => {
    const explained = await stores.db.connection
      .getClient()
      .db(stores.db.name)
      .command({
        explain: { distinct: ADDRESSES.name, key: 'watchedKey', query: { mode: 'test', family: 'evm' } },
        verbosity: 'executionStats',
      })
    expect(read(explained).stages).toContain('DISTINCT_SCAN')
    expect(read(explained).keysExamined).toBeLessThan(10)
  })
})

describe('products and links', () => {
  const page = { workspaceId: 'ws-1', mode: 'test' as const, limit: 10, beforeId: 'ffffffff' }
  const linkIds = ['link-1', 'link-2']

  beforeAll(async () => {
    const { db, runtime } = stores
    for (let row = 0; row < ROWS; row++) {
      const owned = { id: runtime.random.uuid(), workspaceId: WORKSPACES[row % 2] ?? '', mode: 'test' as const }
      const common = { ...owned, description: null, createdAt: row, updatedAt: row }
      const price = { minor: 100n, currency: 'USD' as const }
      await createProductRepository(db).insert({ ...common, name: 'p', price, sku: `s-${row}`, active: true })
      await createPaymentLinkRepository(db).insert({
        ...common,
        status: row % 3 === 0 ? 'inactive' : 'active',
        title: 'l',
        currency: 'USD',
        amount: { kind: 'fixed', minor: 100n },
        productId: null,
        usesMax: null,
        expiresAt: null,
        deactivatedAt: null,
      })
      const invoice = sampleInvoice(runtime.random, { workspaceId: 'ws-links', number: row })
      const terms = { ...invoice.terms, paymentLinkId: linkIds[row % 3] ?? null }
      await createInvoiceRepository(db).insert({ ...invoice, terms })
    }
  })

  it('lists products and links, and finds a sku, by index', async () => {
    const products = stores.db.collection(PRODUCTS)
    const links = stores.db.collection(PAYMENT_LINKS)
    for (const order of LIST_ORDERS) {
      const query = { ...page, order, beforeId: order === 'oldest' ? '00000000' : page.beforeId }
      const list = products.find(productFilter(query)).sort(listSort(query)).limit(10)
      expectIndexed(read(await list.explain('executionStats')), 'product_list')
      const linkList = links.find(linkListFilter(query)).sort(listSort(query)).limit(10)
      expectIndexed(read(await linkList.explain('executionStats')), 'payment_link_list')
    }
    const sku = products.find({ workspaceId: 'ws-1', mode: 'test', sku: 's-4' })
    expectIndexed(read(await sku.explain('executionStats')), 'product_sku')
  })

  // Guarantee: uses and plan limits are counted from index keys; no invoice and no link is fetched for them.
  it('counts uses and active links without reading a document', async () => {
    for (const pipeline of [usesPipeline(linkIds), usesPipeline(['link-1'], { $gte: '0' })]) {
      const uses = stores.db.collection(INVOICES).aggregate(pipeline)
      const explained = read(await uses.explain('executionStats'))
      expectIndexed(explained, 'invoice_of_link')
      expect(explained.stages).not.toContain('FETCH')
    }
    const match = { workspaceId: 'ws-1', mode: 'test', status: 'active' }
    const count = stores.db
      .collection(PAYMENT_LINKS)
      .aggregate([{ $match: match }, { $group: { _id: 1, n: { $sum: 1 } } }])
    const counted = read(await count.explain('executionStats'))
    expectIndexed(counted, 'payment_link_active')
    expect(counted.stages).not.toContain('FETCH')
  })
})

describe('the audit trail', () => {
  it('finds what waits, its end and the next rows by index', async () => {
    const row = {
      at: 1,
      actor: 'a',
      action: 'golive.master_key_stated' as const,
      subject: 'c',
      workspaceId: null,
      mode: null,
      detail: {},
    }
    const ids = Array.from({ length: ROWS }, (_, index) => `row-${index}`)
    await createAuditRepository(stores.db).insertMany(ids.map((id) => ({ ...row, id })))
    const head = { seq: ROWS / 2, hash: 'h', keyId: 'k', mac: 'm' }
    const links = ids.slice(0, ROWS / 2).map((id, index) => ({ ...head, id, seq: index + 1, prevHash: 'p' }))
    await createAuditChainRepository(stores.db).append({ was: null, checkpoint: null, links, head })
    const rows = stores.db.collection(AUDIT_LOG)
    const explained = async (filter: Parameters<typeof rows.find>[0], sort: Record<string, 1 | -1>) =>
      read(await rows.find(filter).sort(sort).limit(10).explain('executionStats'))
    expectIndexed(await explained(WAITING, { at: 1, _id: 1 }), 'audit_waiting')
    expectIndexed(await explained(chainedFilter(null), { seq: -1 }), 'audit_chain')
    expectIndexed(await explained(chainedFilter({ seq: 9, id: 'row-8' }), { seq: 1 }), 'audit_chain')
  })
})
