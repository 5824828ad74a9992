import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createAuditSearch } from '#shared/db/audit/audit-search.ts'
import { createExportRecords } from '#shared/db/audit/export-records.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { createExceptionDecisions } from '#shared/db/exceptions/exception-decisions.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createRecordedDocuments } from '#shared/db/maintenance/recorded-documents.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createBookReads } from '#shared/db/reports/book-reads.ts'
import { createOverviewReads } from '#shared/db/reports/overview-reads.ts'
import { createRollups } from '#shared/db/reports/rollups.ts'
import type { ExceptionQuery } from '#shared/ports/exception-decisions.ts'
import type { OverviewSpan } from '#shared/ports/overview.ts'
import { RECORDED_KINDS } from '#shared/ports/recorded-documents.ts'
import { BY_KEY, bounded, type DeclaredQueries, questionsOf } from '../declare.ts'
import { AGE_DAYS, BUSY, DAY_MS, ENDPOINTS, type Facts, HOUR_MS, MODE, NETWORK, OPEN_INVOICES } from '../facts.ts'
import { unmatchedKey } from '../seed-records.ts'

const inbox = (overrides: Partial<ExceptionQuery>): ExceptionQuery => ({
  ...{ workspaceId: BUSY, mode: MODE, open: true, kinds: [], limit: 25, after: null, ...overrides },
})
const span = (facts: Facts): OverviewSpan => ({
  ...{ workspaceId: BUSY, mode: MODE, since: facts.now - 180 * DAY_MS, until: facts.now + HOUR_MS },
})

/** A day of which little is asked. */
const oldDay = (facts: Facts): OverviewSpan => ({
  ...{ workspaceId: BUSY, mode: MODE, since: facts.now - 400 * DAY_MS, until: facts.now - 399 * DAY_MS },
})

const EXCEPTIONS: DeclaredQueries<ReturnType<typeof createExceptionRepository>> = {
  applyChanges: BY_KEY,
  open: BY_KEY,
  openOnce: BY_KEY,
  existing: BY_KEY,
  report: BY_KEY,
  close: BY_KEY,
  closeGone: (on, facts) => on.closeGone([unmatchedKey(facts, 1), 'none'], facts.now),
  unmatchedKeys: (on) => on.unmatchedKeys({ mode: MODE, network: NETWORK, after: null, limit: 100 }),
  findById: BY_KEY,
  listByInvoice: (on, facts) => on.listByInvoice(facts.invoiceId(facts.old)),
  closeAudited: BY_KEY,
  listOpen: {
    'of a workspace': (on) => on.listOpen(BUSY),
    'of the installation': (on) => on.listOpen(null),
  },
}

const INBOX: DeclaredQueries<ReturnType<typeof createExceptionDecisions>> = {
  find: BY_KEY,
  list: {
    open: (on) => on.list(inbox({})),
    'open of a kind': (on) => on.list(inbox({ kinds: ['failing_endpoint'] })),
    'open of a kind that none has': (on) => on.list(inbox({ kinds: ['halted_chain'] })),
    resolved: (on) => on.list(inbox({ open: false })),
    'resolved of some kinds': (on) => on.list(inbox({ open: false, kinds: ['late', 'partial', 'over'] })),
    'resolved of a kind that none has': (on) => on.list(inbox({ open: false, kinds: ['halted_chain', 'stuck'] })),
  },
  countOpen: bounded(1_000, 'counts open entries up to a given number, which the page shows', (on) =>
    on.countOpen(BUSY, MODE, 1_000),
  ),
  workspacesWithOpen: (on) => on.workspacesWithOpen(),
  summariseOpen: bounded(10_000, 'counts open entries of a kind from the index, for a mail once a day', (on, { now }) =>
    on.summariseOpen(BUSY, ['late', 'failing_endpoint'], now - HOUR_MS),
  ),
  findOpenByPayment: (on, facts) => on.findOpenByPayment(BUSY, unmatchedKey(facts, 1)),
  findRejection: (on, facts) => on.findRejection(BUSY, unmatchedKey(facts, 1)),
  claim: BY_KEY,
  release: BY_KEY,
  resolve: BY_KEY,
  addNote: BY_KEY,
}

const CHAIN: DeclaredQueries<ReturnType<typeof createAuditChainRepository>> = {
  tail: (on) => on.tail(),
  isAnyWaiting: (on) => on.isAnyWaiting(),
  waiting: (on) => on.waiting(100),
  findWaiting: BY_KEY,
  head: BY_KEY,
  breaks: BY_KEY,
  saveBreaks: BY_KEY,
  append: BY_KEY,
  listChained: (on) => on.listChained({ seq: 5, id: 'audit-12' }, 100),
  extent: (on) => on.extent(),
  unchained: bounded(
    20_000,
    'counts rows that wait for the chain, and rows that do not, up to 10,000 each, for the result of a verification',
    (on) => on.unchained(),
  ),
  verified: BY_KEY,
  saveVerified: BY_KEY,
}

const RECORDED: DeclaredQueries<ReturnType<typeof createRecordedDocuments>> = {
  page: Object.fromEntries(
    RECORDED_KINDS.map((kind) => [
      `of ${kind} documents`,
      bounded(1_000, 'a page of 500 documents and the oldest row about each', (on) => on.page(kind, null, 500)),
    ]),
  ),
}

const SEARCH: DeclaredQueries<ReturnType<typeof createAuditSearch>> = {
  search: {
    'newest of the installation': (on) => on.search({ workspaceId: null }, null, 25),
    'of a workspace': (on) => on.search({ workspaceId: BUSY }, null, 25),
    'of a person': (on) => on.search({ workspaceId: null, actor: 'user:3@example.com' }, null, 25),
    'of a person in a workspace': (on) => on.search({ workspaceId: BUSY, actor: 'user:3@example.com' }, null, 25),
    'about a subject': (on, facts) => on.search({ workspaceId: BUSY, subject: facts.invoiceId(0) }, null, 25),
    'of one day': (on, { now }) =>
      on.search({ workspaceId: BUSY, from: now - 400 * DAY_MS, until: now - 399 * DAY_MS }, null, 25),
  },
}

const TRAIL: DeclaredQueries<ReturnType<typeof createAuditRepository>> = {
  insertMany: BY_KEY,
  isRecorded: BY_KEY,
  newestOf: (on, facts) => on.newestOf(facts.invoiceId(0)),
  listBySubject: (on, facts) => on.listBySubject(facts.invoiceId(0)),
}

const EXPORTS: DeclaredQueries<ReturnType<typeof createExportRecords>> = { record: BY_KEY }

const BACKUPS: DeclaredQueries<ReturnType<typeof createVerifiedBackups>> = {
  latest: BY_KEY,
  record: BY_KEY,
  lastAttempt: BY_KEY,
  recordAttempt: BY_KEY,
  latestChanges: BY_KEY,
  recordChanges: BY_KEY,
  begunArchives: (on) => on.begunArchives(),
}

const QUEUE: DeclaredQueries<ReturnType<typeof createMailQueue>> = {
  due: (on, { now }) => on.due(now, 100),
  claim: BY_KEY,
  finish: BY_KEY,
  release: BY_KEY,
  findById: BY_KEY,
  listNewest: (on) => on.listNewest(25),
  count: (on, { now }) => on.count(now),
}

const MAILS: DeclaredQueries<ReturnType<typeof createMailRepository>> = { insertMany: BY_KEY, hasAny: BY_KEY }

const RATES: DeclaredQueries<ReturnType<typeof createRateRepository>> = {
  insert: BY_KEY,
  latest: (on) => on.latest(),
  latestBefore: (on, { now }) => on.latestBefore(now - DAY_MS, 120_000),
  confirm: BY_KEY,
  confirmed: BY_KEY,
  failing: BY_KEY,
  recordFailing: BY_KEY,
}

const BOOKS: DeclaredQueries<ReturnType<typeof createBookReads>> = {
  counts: (on, facts) => on.counts(oldDay(facts), 'hour'),
  records: (on, facts) => on.records(oldDay(facts)),
  begunAt: (on) => on.begunAt(BUSY, MODE),
}

const OVERVIEW: DeclaredQueries<ReturnType<typeof createOverviewReads>> = {
  invoices: {
    'of 180 days, by hour': (on, facts) => on.invoices(span(facts), 'hour'),
    'of 180 days, by quarter': (on, facts) => on.invoices(span(facts), 'quarter'),
  },
  deliveries: (on, { now }) => on.deliveries(Object.values(ENDPOINTS), MODE, now - DAY_MS),
  asOf: (on) => on.asOf(),
  beginnings: (on) => on.beginnings(BUSY, MODE),
}

const NIGHT_DAYS = 4

const ROLLUPS: DeclaredQueries<ReturnType<typeof createRollups>> = {
  catchUp: {
    // In the day of the seed's own count: it is not night yet.
    'when nothing changed': (on, { now }) => on.catchUp(now),
    'at night': bounded(
      ({ invoices }) => 100 * (Math.ceil((invoices * NIGHT_DAYS) / AGE_DAYS) + OPEN_INVOICES),
      'what was stamped in three days, and its hours in full',
      (on, { now }) => on.catchUp(now + DAY_MS),
    ),
  },
}

/** What is asked about the inbox, the audit trail, mails, rates and the front page. */
export const RECORD_QUESTIONS = [
  ...questionsOf('exceptions', 'workers', createExceptionRepository, EXCEPTIONS),
  ...questionsOf('inbox', 'dashboard', createExceptionDecisions, INBOX),
  ...questionsOf('audit chain', 'idle', createAuditChainRepository, CHAIN),
  ...questionsOf('audited documents', 'idle', createRecordedDocuments, RECORDED),
  ...questionsOf('audit search', 'dashboard', createAuditSearch, SEARCH),
  ...questionsOf('audit rows', 'command line', createAuditRepository, TRAIL),
  ...questionsOf('export records', 'dashboard', createExportRecords, EXPORTS),
  ...questionsOf('verified back-ups', 'idle', createVerifiedBackups, BACKUPS),
  ...questionsOf('mail queue', 'idle', createMailQueue, QUEUE),
  ...questionsOf('mails', 'workers', createMailRepository, MAILS),
  ...questionsOf('rates', 'rest', createRateRepository, RATES),
  ...questionsOf('books', 'dashboard', createBookReads, BOOKS),
  ...questionsOf('overview', 'dashboard', createOverviewReads, OVERVIEW),
  ...questionsOf('roll-ups', 'idle', createRollups, ROLLUPS),
]
