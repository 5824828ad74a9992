import { createFundsReads } from '#shared/db/funds/funds-reads.ts'
import { createOperatorPaymentLookups } from '#shared/db/payments/admin-payment-lookups.ts'
import { createPaymentHints } from '#shared/db/payments/payment-hints.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRefundRepository } from '#shared/db/refunds/refund-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import type { PaymentPageQuery } from '#shared/ports/payment-lookups.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { BY_KEY, bounded, type DeclaredQueries, questionsOf } from '../declare.ts'
import { BUSY, DAY_MS, type Facts, MODE, NETWORK, OPEN_INVOICES } from '../facts.ts'
import { heightAt } from '../seed-money.ts'

const SCAN_MAX = 5_000
const PLACE = { mode: MODE, network: NETWORK } as const
const EPOCH = 1
const page = (overrides: Partial<PaymentPageQuery>): PaymentPageQuery => ({
  ...{ workspaceId: BUSY, mode: MODE, network: null, counted: null, createdFrom: null, createdTo: null },
  ...{ limit: 25, beforeId: null, ...overrides },
})
const tip = (facts: Facts) => heightAt(facts, facts.invoices - OPEN_INVOICES - 1)
const ofInvoice = (facts: Facts) => facts.invoiceId(facts.old)
const blocks = (facts: Facts) => [{ height: tip(facts), hash: '0xother' }]

const PAYMENTS: DeclaredQueries<ReturnType<typeof createPaymentRepository>> = {
  recordObservations: BY_KEY,
  dueForConfirmation: (on) => on.dueForConfirmation({ ...PLACE, height: 1, finalizedHeight: 1 }),
  confirmThrough: (on, { now }) =>
    on.confirmThrough({ ...PLACE, height: 1, finalizedHeight: 1, epoch: EPOCH, at: now }),
  unconfirmed: (on) => on.unconfirmed(MODE, NETWORK),
  endUnconfirmed: (on, { now }) =>
    on.endUnconfirmed({ ...PLACE, outcomes: [{ key: 'none', state: 'dropped' }], epoch: EPOCH, at: now }),
  orphanAbove: (on, facts) =>
    on.orphanAbove({ ...PLACE, forkHeight: tip(facts) + 1_000_000, epoch: EPOCH, at: facts.now }),
  firstSeenAbove: (on, facts) => on.firstSeenAbove({ ...PLACE, forkHeight: tip(facts) + 1_000_000 }),
  orphanMissing: (on, facts) =>
    on.orphanMissing({
      ...{ ...PLACE, blocks: [{ height: tip(facts) + 1_000_000, hash: '0x0' }], epoch: EPOCH, at: facts.now },
    }),
  listNonCanonical: (on, facts) => on.listNonCanonical({ ...PLACE, blocks: blocks(facts), confirmedToo: true }),
  insertSimulated: BY_KEY,
  confirmSimulated: (on, facts) => on.confirmSimulated(ofInvoice(facts), facts.now),
  listByInvoice: (on, facts) => on.listByInvoice(ofInvoice(facts)),
  listForFold: (on, facts) =>
    on.listForFold(ofInvoice(facts), '1.1', { keys: [facts.paymentKey(facts.old)], isFinal: true }),
  listDustFor: (on, facts) =>
    on.listDustFor(ofInvoice(facts), '1.1', {
      ...{ asset: 'usdt_ethereum', network: NETWORK, matchKey: facts.matchKey(facts.old) },
      ...{ leastBase: 1n, belowBase: 100n },
    }),
  listShown: (on, facts) => on.listShown(ofInvoice(facts), [facts.paymentKey(facts.old)]),
  hasSimulated: (on, facts) => on.hasSimulated(ofInvoice(facts), 'none'),
  detectedMatchKeys: (on, facts) => on.detectedMatchKeys(ofInvoice(facts)),
  listAmong: (on, facts) => on.listAmong(ofInvoice(facts), [facts.paymentKey(facts.old)]),
  listEnded: (on, facts) => on.listEnded(ofInvoice(facts), 100),
  findById: BY_KEY,
  findByKeys: (on, facts) => on.findByKeys([facts.paymentKey(facts.old), 'none']),
  listByTransaction: (on, facts) =>
    on.listByTransaction(MODE, NETWORK, facts.paymentKey(facts.old).split(':')[2] ?? ''),
  listInBlocks: (on, facts) =>
    on.listInBlocks({
      ...{ ...PLACE, assets: ['eth_ethereum', 'usdt_ethereum'], matchKeys: [facts.matchKey(facts.old)] },
      ...{ from: heightAt(facts, facts.old) - 1, to: heightAt(facts, facts.old) + 100 },
    }),
  listUnheld: (on, facts) => on.listUnheld(MODE, [facts.matchKey(facts.old)], 20),
  countInBlocks: (on, facts) => on.countInBlocks({ ...PLACE, from: tip(facts) - 10, to: tip(facts) }),
  attribute: BY_KEY,
  attributedAmong: (on, facts) => on.attributedAmong([facts.paymentKey(facts.old)]),
  list: {
    newest: (on) => on.list({ ...PLACE, workspaceId: BUSY, invoiceId: null, limit: 20, beforeId: null }),
    'of an invoice': (on, facts) =>
      on.list({ ...PLACE, workspaceId: BUSY, invoiceId: ofInvoice(facts), limit: 20, beforeId: null }),
  },
  markApplied: BY_KEY,
  markDirty: 'by key',
  takeDirtyInvoices: (on, { now }) => on.takeDirtyInvoices({ before: now, at: now, limit: 100 }),
}

const FUNDS: DeclaredQueries<ReturnType<typeof createFundsReads>> = {
  usedBy: bounded(400, 'reads at most two documents for each of a hundred addresses', (on, facts) =>
    on.usedBy({
      workspaceId: BUSY,
      mode: MODE,
      family: 'evm',
      matchKeys: Array.from({ length: 100 }, (_, index) => facts.matchKey(index)),
    }),
  ),
}
const LOOKUPS: DeclaredQueries<ReturnType<typeof createOperatorPaymentLookups>> = {
  page: {
    newest: (on) => on.page(page({})),
    oldest: (on) => on.page(page({ order: 'oldest' })),
    'of an amount and an invoice': (on, facts) =>
      on.page(
        page({
          search: {
            ids: [],
            invoiceIds: [ofInvoice(facts)],
            amounts: [{ asset: 'usdt_ethereum', amountBase: 10_000_000n }],
          },
        }),
      ),
    'by network': bounded(
      2 * SCAN_MAX + 200,
      'none or few of the next 5,000 payments fit: it looks through them, because an index for each filter would cost every payment a write',
      (on) => on.page(page({ network: 'base' })),
    ),
    'that do not count': bounded(2 * SCAN_MAX + 200, 'as by network', (on) => on.page(page({ counted: false }))),
  },
  found: (on, facts) =>
    on.found({ workspaceId: BUSY, mode: MODE, search: { ids: [], invoiceIds: [ofInvoice(facts)], amounts: [] } }),
  pageForward: (on, facts) =>
    on.pageForward(page({ createdFrom: facts.now - 400 * DAY_MS, createdTo: facts.now - 399 * DAY_MS }), null),
  ofInvoices: (on, facts) => on.ofInvoices([ofInvoice(facts)]),
}

const REFUNDS: DeclaredQueries<ReturnType<typeof createRefundRepository>> = {
  open: BY_KEY,
  findInWorkspace: BY_KEY,
  findByTokenHash: BY_KEY,
  listByInvoice: (on, facts) => on.listByInvoice(ofInvoice(facts)),
  ofInvoices: (on, facts) => on.ofInvoices([ofInvoice(facts)]),
  giveAddress: BY_KEY,
  noteSent: BY_KEY,
  withdraw: BY_KEY,
}

const CURSORS: DeclaredQueries<ReturnType<typeof createCursorRepository>> = {
  find: BY_KEY,
  list: (on) => on.list(),
  create: BY_KEY,
  acquireLease: BY_KEY,
  releaseLease: BY_KEY,
  advance: BY_KEY,
  releaseDeadlines: BY_KEY,
  releaseSkipped: BY_KEY,
}

const COMMANDS: DeclaredQueries<ReturnType<typeof createChainCommandRepository>> = {
  request: BY_KEY,
  findById: BY_KEY,
  listOpen: (on) => on.listOpen(MODE, NETWORK),
  listAllOpen: (on) => on.listAllOpen(),
  progress: BY_KEY,
  take: BY_KEY,
  cancel: BY_KEY,
  finish: BY_KEY,
}

const BALANCES: DeclaredQueries<ReturnType<typeof createCoinBalanceRepository>> = {
  find: (on, facts) => on.find(MODE, NETWORK, [facts.matchKey(facts.old)]),
  save: BY_KEY,
  dropChecks: BY_KEY,
  starts: (on, facts) => on.starts(MODE, NETWORK, [facts.matchKey(facts.old)]),
  saveStarts: BY_KEY,
}

const HINTS: DeclaredQueries<ReturnType<typeof createPaymentHints>> = {
  add: BY_KEY,
  listByInvoice: (on, facts) => on.listByInvoice(ofInvoice(facts)),
  countsOf: (on, facts) => on.countsOf([ofInvoice(facts)]),
}

const USAGE: DeclaredQueries<ReturnType<typeof createNodeUsageRepository>> = {
  add: BY_KEY,
  since: (on, { now }) => on.since(now - 40 * DAY_MS),
}

/** What is asked about payments, refunds and chains. */
export const PAYMENT_QUESTIONS = [
  ...questionsOf('payments', 'workers', (db) => createPaymentRepository(db, createRandom(Date.now)), PAYMENTS),
  ...questionsOf('funds', 'dashboard', createFundsReads, FUNDS),
  ...questionsOf('payment lookups', 'dashboard', createOperatorPaymentLookups, LOOKUPS),
  ...questionsOf('refunds', 'dashboard', createRefundRepository, REFUNDS),
  ...questionsOf('payment hints', 'rest', createPaymentHints, HINTS),
  ...questionsOf('cursors', 'idle', createCursorRepository, CURSORS),
  ...questionsOf('chain commands', 'idle', createChainCommandRepository, COMMANDS),
  ...questionsOf('node usage', 'idle', createNodeUsageRepository, USAGE),
  ...questionsOf('coin balances', 'workers', createCoinBalanceRepository, BALANCES),
]
