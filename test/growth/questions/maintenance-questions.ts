import { createEpisodeRepository } from '#shared/db/installation/episode-repository.ts'
import { createKeyCanaryRepository } from '#shared/db/installation/key-canary-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { createRedisEpochRepository } from '#shared/db/installation/redis-epoch-repository.ts'
import { createBacklogRepository } from '#shared/db/maintenance/backlog-repository.ts'
import { createCustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import { createRetentionRepository } from '#shared/db/maintenance/retention-repository.ts'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { createReconciliationRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { createIssuedRepository } from '#shared/db/restore/issued-repository.ts'
import { createOutboundPause } from '#shared/db/restore/restore-state.ts'
import { BY_KEY, bounded, type DeclaredQueries, questionsOf } from '../declare.ts'
import { BUSY, CHAIN, DAY_MS, type Facts, HOUR_MS, MODE } from '../facts.ts'

const COUNT_MAX = 10_000
const PAGE = 200
const invoice = (facts: Facts) => ({ workspaceId: BUSY, mode: MODE, invoiceId: facts.invoiceId(facts.recent) })
const someInvoices = (facts: Facts) => Array.from({ length: PAGE }, (_, offset) => facts.invoiceId(facts.old + offset))

const RECONCILIATION: DeclaredQueries<ReturnType<typeof createReconciliationRepository>> = {
  progress: BY_KEY,
  saveProgress: BY_KEY,
  created: (on, facts) => on.created(facts.invoiceId(facts.old), null, PAGE),
  changed: (on, facts) =>
    on.changed({ at: facts.now - 100 * DAY_MS, invoiceId: facts.invoiceId(facts.old) }, facts.now, PAGE),
  read: (on, facts) => on.read(someInvoices(facts), facts.now),
}

const BACKLOGS: DeclaredQueries<ReturnType<typeof createBacklogRepository>> = {
  queues: bounded(
    6 * COUNT_MAX,
    'counts the rows of six queues up to 10,000 from the index: only work that waits, which alerts are about',
    (on, { now }) => on.queues(now),
  ),
  oldestDeadline: (on, { now }) => on.oldestDeadline(CHAIN, now + DAY_MS),
  openExceptions: bounded(
    17 * COUNT_MAX,
    'counts each kind up to 10,000 from the index alone: only open entries, which alerts are about',
    (on) => on.openExceptions(),
  ),
}

const INSTALLATION: DeclaredQueries<ReturnType<typeof createInstanceReads>> = {
  depths: bounded(
    7 * COUNT_MAX,
    'counts the due rows of seven kinds of work up to 10,000: only work that waits, which the page shows',
    (on, { now }) => on.depths(now),
  ),
  leases: (on) => on.leases(),
  redisSince: BY_KEY,
  processes: (on, { now }) => on.processes(now - HOUR_MS),
}

const ERASURE: DeclaredQueries<ReturnType<typeof createCustomerEraser>> = {
  // And the exceptions about it or about its transfers.
  eraseInvoice: (on, facts) =>
    on.eraseInvoice(invoice(facts), facts.now, {
      ...{ id: 'customer-erased:growth', at: facts.now, actor: 'test', action: 'invoice.customer_erased' },
      ...{ subject: invoice(facts).invoiceId, workspaceId: null, mode: null, detail: {} },
    }),
  eraseEvents: (on, facts) => on.eraseEvents(facts.invoiceId(facts.recent), facts.now),
  storedAnswers: (on, facts) => on.storedAnswers(invoice(facts)),
  replaceAnswer: BY_KEY,
  dueSweeps: (on, { now }) => on.dueSweeps(now, 100),
  endSweep: BY_KEY,
}

const RETENTION: DeclaredQueries<ReturnType<typeof createRetentionRepository>> = {
  oldest: {
    event: (on) => on.oldest('events'),
    delivery: (on) => on.oldest('webhook_deliveries'),
    attempt: (on) => on.oldest('webhook_deliveries.attempts'),
    'attempt elsewhere': (on) => on.oldest('webhook_attempts'),
    'inbox row': (on) => on.oldest('exceptions'),
    rates: (on) => on.oldest('rate_snapshots'),
  },
  remove: {
    rates: (on, { now }) => on.remove('rate_snapshots', now - 30 * DAY_MS, 100),
    attempts: (on, { now }) => on.remove('webhook_deliveries.attempts', now - 30 * DAY_MS, 100),
  },
  removeEndedGuards: (on, { now }) => on.removeEndedGuards(now - 2 * DAY_MS, 100),
  scannedThrough: (on) => on.scannedThrough(),
}

const SECRETS: DeclaredQueries<ReturnType<typeof createSealedSecretRepository>> = {
  size: BY_KEY,
  page: (on) => on.page('mails', null, 100),
  findOne: BY_KEY,
  replace: BY_KEY,
}

const LIFE: DeclaredQueries<ReturnType<typeof createInstallationLifeRepository>> = {
  read: BY_KEY,
  lostWallets: BY_KEY,
  beat: BY_KEY,
}

const ISSUED: DeclaredQueries<ReturnType<typeof createIssuedRepository>> = {
  isAnyChanged: (on, { now }) => on.isAnyChanged(now - 5_000),
  listCounters: bounded(
    1_000,
    'reads the counters of every key: keys are few, however many addresses they have',
    (on) => on.listCounters(),
  ),
  listNumbers: {
    recent: (on, { now }) => on.listNumbers(now),
    all: bounded(1_000, 'finds the highest number of each workspace and mode, when a place for marks is empty', (on) =>
      on.listNumbers(null),
    ),
  },
  takePrecautions: bounded(
    ({ invoices }) => 10 * invoices + 10_000,
    'touches every key, listed address, series and scanner, once after the store went back in time',
    (on, { now }) =>
      on.takePrecautions(
        { firstFree: ({ nextIndex }) => nextIndex, lastNumber: ({ number }) => number, auditNumber: 0 },
        { quarantineMs: null, at: now },
      ),
  ),
  continueKey: BY_KEY,
}

const LEASES: DeclaredQueries<ReturnType<typeof createLeaseRepository>> = { acquire: BY_KEY, release: BY_KEY }
const EPISODES: DeclaredQueries<ReturnType<typeof createEpisodeRepository>> = { read: BY_KEY, replace: BY_KEY }
const CANARY: DeclaredQueries<ReturnType<typeof createKeyCanaryRepository>> = { find: BY_KEY, insert: BY_KEY }
const HEARTBEATS: DeclaredQueries<ReturnType<typeof createProcessHeartbeats>> = {
  beat: BY_KEY,
  gone: BY_KEY,
  countLive: (on, { now }) => on.countLive('webhooks', now),
  isAnotherOnTime: (on, { now }) => on.isAnotherOnTime('here', now, 2_000),
}
const REDIS: DeclaredQueries<ReturnType<typeof createRedisEpochRepository>> = { read: BY_KEY, replace: BY_KEY }
const PAUSE: DeclaredQueries<ReturnType<typeof createOutboundPause>> = { isPaused: BY_KEY }

/** What the installation asks about itself, most of it again and again. */
export const MAINTENANCE_QUESTIONS = [
  ...questionsOf('reconciliation', 'idle', createReconciliationRepository, RECONCILIATION),
  ...questionsOf('backlogs', 'idle', createBacklogRepository, BACKLOGS),
  ...questionsOf('installation', 'dashboard', createInstanceReads, INSTALLATION),
  ...questionsOf('erasure', 'idle', createCustomerEraser, ERASURE),
  ...questionsOf('retention', 'idle', createRetentionRepository, RETENTION),
  ...questionsOf('sealed secrets', 'command line', createSealedSecretRepository, SECRETS),
  ...questionsOf('installation life', 'idle', createInstallationLifeRepository, LIFE),
  ...questionsOf('issued', 'idle', createIssuedRepository, ISSUED),
  ...questionsOf('leases', 'idle', createLeaseRepository, LEASES),
  ...questionsOf('operators’ episodes', 'idle', createEpisodeRepository, EPISODES),
  ...questionsOf('key canary', 'command line', createKeyCanaryRepository, CANARY),
  ...questionsOf('heartbeats', 'idle', createProcessHeartbeats, HEARTBEATS),
  ...questionsOf('redis epoch', 'idle', createRedisEpochRepository, REDIS),
  ...questionsOf('outbound pause', 'workers', createOutboundPause, PAUSE),
]
