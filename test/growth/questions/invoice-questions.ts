import { createInvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import { createAdvanceFailures } from '#shared/db/invoices/advance-failures.ts'
import { createInvoiceCounts } from '#shared/db/invoices/invoice-counts.ts'
import { createInvoiceNotes } from '#shared/db/invoices/invoice-notes.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createInvoiceVersions } from '#shared/db/invoices/invoice-versions.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createProductRepository } from '#shared/db/payment-links/product-repository.ts'
import type { InvoicePageQuery } from '#shared/ports/invoice-lookups.ts'
import { type InvoiceListQuery, OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { BY_KEY, bounded, type DeclaredQueries, questionsOf } from '../declare.ts'
import {
  AGE_DAYS,
  BUSY,
  CHAIN,
  DAY_MS,
  type Facts,
  HOUR_MS,
  LINKED_EVERY,
  MODE,
  NETWORK,
  OPEN_INVOICES,
} from '../facts.ts'

const SCAN_MAX = 5_000
const COUNT_MAX = 10_000
const MONTH_DAYS = 31
const SHARDS = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard)
const FIRST_PAGE = { workspaceId: BUSY, mode: MODE, limit: 20, beforeId: null } as const

const list = (overrides: Partial<InvoiceListQuery>): InvoiceListQuery => ({
  ...{ workspaceId: BUSY, mode: MODE, limit: 20, beforeId: null, status: null, orderId: null },
  ...{ createdAfter: null, createdBefore: null, ...overrides },
})
const page = (overrides: Partial<InvoicePageQuery>): InvoicePageQuery => ({
  ...{ workspaceId: BUSY, mode: MODE, search: null, status: null, createdFrom: null, createdTo: null, asset: null },
  ...{ source: null, flag: null, limit: 25, beforeId: null, ...overrides },
})
const claims = (facts: Facts) => [facts.old, facts.recent].map((index) => `${MODE}:evm:${facts.matchKey(index)}`)
const monthAgo = (facts: Facts) => facts.now - 30 * DAY_MS

const INVOICES: DeclaredQueries<ReturnType<typeof createInvoiceRepository>> = {
  insert: BY_KEY,
  findById: BY_KEY,
  findInWorkspace: BY_KEY,
  findByIdempotencyKey: (on, facts) => on.findByIdempotencyKey(BUSY, MODE, `key-${facts.recent}`),
  releaseIdempotencyKey: BY_KEY,
  list: {
    newest: (on) => on.list(list({})),
    'by status': (on) => on.list(list({ status: 'expired' })),
    'by a status that none has': (on) => on.list(list({ status: 'cancelled' })),
    'by order': (on, facts) => on.list(list({ orderId: `order-${facts.old}` })),
    'by time': (on, facts) => on.list(list({ createdAfter: monthAgo(facts), createdBefore: monthAgo(facts) + DAY_MS })),
  },
  save: BY_KEY,
  highestNumber: (on) => on.highestNumber(BUSY, MODE),
  findByClaims: (on, facts) => on.findByClaims(claims(facts)),
  findByReferences: (on) => on.findByReferences(MODE, ['none']),
  watchedMethods: (on, facts) => on.watchedMethods(MODE, NETWORK, facts.now - DAY_MS),
  countOpenMethods: (on, facts) => on.countOpenMethods(MODE, NETWORK, facts.now - HOUR_MS, 1_000),
  claimsTaken: (on, facts) => on.claimsTaken(claims(facts)),
  claimsCold: (on, facts) => on.claimsCold(claims(facts), facts.now),
  priorHolds: (on, facts) => on.priorHolds(claims(facts), facts.now),
  drawsTaken: (on) => on.drawsTaken(['visitor:m:1']),
  claimsPaid: (on, facts) => on.claimsPaid(claims(facts)),
  dueForRelease: (on, facts) => on.dueForRelease(facts.now, null, 100),
  releaseClaims: BY_KEY,
  isAnyDue: {
    'that is due': (on, facts) => on.isAnyDue(['none', CHAIN], facts.now + DAY_MS),
    'of none': (on, facts) => on.isAnyDue(['none', CHAIN], facts.now - 2 * 366 * DAY_MS),
  },
  dueForAction: {
    'that are due': (on, facts) => on.dueForAction(CHAIN, facts.now + DAY_MS, 100),
    'of none': (on, facts) => on.dueForAction('none', facts.now, 100),
  },
  waitForChain: BY_KEY,
  countDueUnpaid: (on, facts) => on.countDueUnpaid(CHAIN, facts.now + DAY_MS, COUNT_MAX),
  outboxBatch: (on) => on.outboxBatch(SHARDS, 32, null),
  overdueOutboxShards: (on, facts) => on.overdueOutboxShards(facts.now),
  trimOutbox: BY_KEY,
}

const LOOKUPS: DeclaredQueries<ReturnType<typeof createInvoiceLookups>> = {
  page: {
    newest: (on) => on.page(page({})),
    oldest: (on) => on.page(page({ order: 'oldest' })),
    'oldest of a status': (on) => on.page(page({ order: 'oldest', status: 'paid' })),
    'by status': (on) => on.page(page({ status: 'paid' })),
    'by id': (on, facts) => on.page(page({ search: { kind: 'id', id: facts.invoiceId(facts.old) } })),
    'by number': (on, facts) =>
      on.page(page({ search: { kind: 'number', number: facts.old + 1, orderId: String(facts.old + 1) } })),
    'by order': (on, facts) => on.page(page({ search: { kind: 'order', orderId: `order-${facts.old}` } })),
    'by customer': (on, facts) => on.page(page({ search: { kind: 'email', email: `payer${facts.old}@example.com` } })),
    'by address': (on, facts) =>
      on.page(page({ search: { kind: 'address', claims: claims(facts), prefixes: [`${MODE}:${NETWORK}:0xaa`] } })),
    'of one day two years ago': (on, facts) =>
      on.page(page({ createdFrom: facts.now - 700 * DAY_MS, createdTo: facts.now - 699 * DAY_MS })),
    'by coin': bounded(
      2 * SCAN_MAX + 200,
      'none of the next 5,000 invoices fits: it looks through them, and for where they end, because an index for each filter would cost every invoice a write',
      (on) => on.page(page({ asset: 'eth_base' })),
    ),
    late: bounded(2 * SCAN_MAX + 200, 'as by coin', (on) => on.page(page({ flag: 'late' }))),
  },
  countByStatus: bounded(
    8 * COUNT_MAX,
    'counts each of eight statuses up to 10,000 from the index alone, because the page shows how many',
    (on) => on.countByStatus({ workspaceId: BUSY, mode: MODE, createdFrom: null, createdTo: null }, COUNT_MAX),
  ),
  findMany: BY_KEY,
}

const COUNTS: DeclaredQueries<ReturnType<typeof createInvoiceCounts>> = {
  inMonth: {
    'for the first time': bounded(
      ({ invoices }) => 3 * Math.ceil((invoices * MONTH_DAYS) / AGE_DAYS) + OPEN_INVOICES,
      'three times the invoices of one month: only after a limit was set in the middle of it, because a new month begins with none',
      async (on, { now }) => {
        for (let time = 0; time < 2; time += 1) await on.inMonth({ workspaceId: BUSY, mode: MODE, at: now }, 1)
      },
    ),
    'from then on': bounded(OPEN_INVOICES + 400, 'invoices of the last two minutes, and two hundred', (on, { now }) =>
      on.inMonth({ workspaceId: BUSY, mode: MODE, at: now + HOUR_MS }, 1),
    ),
  },
  repair: BY_KEY,
}

const FAILURES: DeclaredQueries<ReturnType<typeof createAdvanceFailures>> = {
  note: BY_KEY,
  list: (on) => on.list(),
  pausing: BY_KEY,
  forget: BY_KEY,
}

const NOTES: DeclaredQueries<ReturnType<typeof createInvoiceNotes>> = { list: BY_KEY, add: BY_KEY }

const VERSIONS: DeclaredQueries<ReturnType<typeof createInvoiceVersions>> = {
  versionsOf: (on, facts) => on.versionsOf([facts.old, facts.recent].map(facts.invoiceId)),
}

const LINKS: DeclaredQueries<ReturnType<typeof createPaymentLinkRepository>> = {
  insert: BY_KEY,
  findInWorkspace: BY_KEY,
  findById: BY_KEY,
  list: { newest: (on) => on.list(FIRST_PAGE), oldest: (on) => on.list({ ...FIRST_PAGE, order: 'oldest' }) },
  deactivate: BY_KEY,
  update: BY_KEY,
  countActive: (on) => on.countActive(BUSY, MODE, 100),
  countUses: {
    'for the first time': bounded(
      ({ invoices }) => 3 * Math.ceil(invoices / LINKED_EVERY),
      'three times the invoices of the link, by keys: only of a link that was busy before the version that stores counts',
      (on, { now }) => on.countUses(['link-1'], now + 2 * HOUR_MS),
    ),
    'from then on': (on, { now }) => on.countUses(['link-1'], now + 2 * HOUR_MS),
  },
  usesHeld: (on) => on.usesHeld('link-1'),
  releaseUse: BY_KEY,
  visitsAt: (on) => on.visitsAt('use:link-1:0000'),
  releaseVisit: BY_KEY,
}

const PRODUCTS: DeclaredQueries<ReturnType<typeof createProductRepository>> = {
  insert: BY_KEY,
  update: BY_KEY,
  findInWorkspace: BY_KEY,
  list: { newest: (on) => on.list(FIRST_PAGE), oldest: (on) => on.list({ ...FIRST_PAGE, order: 'oldest' }) },
}

/** What is asked about invoices, payment links and products. */
export const INVOICE_QUESTIONS = [
  ...questionsOf('invoices', 'rest', createInvoiceRepository, INVOICES),
  ...questionsOf('invoice lookups', 'dashboard', createInvoiceLookups, LOOKUPS),
  ...questionsOf('invoice counts', 'rest', createInvoiceCounts, COUNTS),
  ...questionsOf('advance failures', 'idle', createAdvanceFailures, FAILURES),
  ...questionsOf('invoice notes', 'dashboard', createInvoiceNotes, NOTES),
  ...questionsOf('invoice versions', 'dashboard', createInvoiceVersions, VERSIONS),
  ...questionsOf('payment links', 'rest', createPaymentLinkRepository, LINKS),
  ...questionsOf('products', 'rest', createProductRepository, PRODUCTS),
]
