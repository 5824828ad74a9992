import { createDeliveryLookups } from '#shared/db/deliveries/delivery-lookups.ts'
import { createDeliveryReads } from '#shared/db/deliveries/delivery-reads.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointOperations, createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { createRecoveryRepository } from '#shared/db/deliveries/recovery-repository.ts'
import { createLimitedEndpoints } from '#shared/db/endpoints/limited-endpoints.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import type { DeliverySearch } from '#shared/ports/delivery-search.ts'
import { BY_KEY, bounded, type DeclaredQueries, questionsOf } from '../declare.ts'
import { BUSY, DAY_MS, ENDPOINTS, type Facts, MODE } from '../facts.ts'

const COUNT_MAX = 10_000
/** Two looks at 5,000 deliveries: for the page, and for where it ended. */
const LOOKED_THROUGH = 10_600
const THROUGH =
  'none or few of the next 5,000 deliveries fit: it looks through them, because an index for each pair of conditions would cost every delivery a write'
const search = (overrides: Partial<DeliverySearch>): DeliverySearch => ({
  ...{ workspaceId: BUSY, mode: MODE, status: null, endpointId: null, eventType: null, eventId: null },
  ...{ invoiceIds: null, createdFrom: null, createdBefore: null, after: null, limit: 25, ...overrides },
})
const event = (facts: Facts) => facts.eventId(facts.recent, 1)

const DELIVERIES: DeclaredQueries<ReturnType<typeof createDeliveryRepository>> = {
  insertMany: BY_KEY,
  dueEndpoints: (on, { now }) => on.dueEndpoints(now, 100),
  findDue: {
    'of one endpoint': (on) => on.findDue([{ endpointId: ENDPOINTS.dead, limit: 32 }], null),
    'of many endpoints': (on) =>
      on.findDue(
        Object.values(ENDPOINTS).map((endpointId) => ({ endpointId, limit: 16 })),
        null,
      ),
  },
  claim: BY_KEY,
  finish: BY_KEY,
  release: (on, facts) => on.release([`whd_${event(facts)}_alive`], 'no lease'),
  nextDue: (on) => on.nextDue(ENDPOINTS.dead),
  purge: (on) => on.purge(ENDPOINTS.alive, null),
  hold: (on) => on.hold(ENDPOINTS.alive, null),
  unhold: (on) => on.unhold(ENDPOINTS.alive),
  heldEndpoints: (on) => on.heldEndpoints(),
  findById: BY_KEY,
  listByEvent: (on, facts) => on.listByEvent(event(facts)),
  highestGeneration: (on, facts) => on.highestGeneration(event(facts), ENDPOINTS.alive),
  listAttempts: (on, facts) => on.listAttempts(`whd_${event(facts)}_alive`),
  lastFinished: (on) => on.lastFinished(ENDPOINTS.alive, 3),
}

const READS: DeclaredQueries<ReturnType<typeof createDeliveryReads>> = {
  search: {
    newest: (on) => on.search(search({})),
    'of several invoices': (on, facts) =>
      on.search(search({ invoiceIds: [facts.invoiceId(facts.recent), facts.invoiceId(facts.old)] })),
    oldest: (on) => on.search(search({ order: 'oldest' })),
    'oldest failed': (on) => on.search(search({ order: 'oldest', status: 'failed' })),
    'of a type': (on) => on.search(search({ eventType: 'invoice.paid' })),
    'of a type that none has': (on) => on.search(search({ eventType: 'invoice.overpaid' })),
    failed: (on) => on.search(search({ status: 'failed' })),
    'failed of a type': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'failed', eventType: 'invoice.paid' })),
    ),
    'failed at an endpoint': (on) => on.search(search({ status: 'failed', endpointId: ENDPOINTS.dead })),
    'failed of a type at an endpoint': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'failed', endpointId: ENDPOINTS.dead, eventType: 'invoice.paid' })),
    ),
    succeeded: (on) => on.search(search({ status: 'succeeded' })),
    'succeeded of a type': (on) => on.search(search({ status: 'succeeded', eventType: 'invoice.created' })),
    'succeeded at an endpoint': (on) => on.search(search({ status: 'succeeded', endpointId: ENDPOINTS.alive })),
    'succeeded at an endpoint that takes nothing': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'succeeded', endpointId: ENDPOINTS.dead })),
    ),
    'succeeded of a type at an endpoint that takes nothing': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'succeeded', endpointId: ENDPOINTS.dead, eventType: 'invoice.created' })),
    ),
    pending: (on) => on.search(search({ status: 'pending' })),
    'pending of a type': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'pending', eventType: 'invoice.paid' })),
    ),
    'pending at an endpoint': (on) => on.search(search({ status: 'pending', endpointId: ENDPOINTS.dead })),
    'pending at an endpoint that only holds': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'pending', endpointId: ENDPOINTS.held })),
    ),
    held: (on) => on.search(search({ status: 'held' })),
    'held of a type': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'held', eventType: 'invoice.paid' })),
    ),
    'held at an endpoint that only waits': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ status: 'held', endpointId: ENDPOINTS.dead })),
    ),
    'of an endpoint': (on) => on.search(search({ endpointId: ENDPOINTS.alive })),
    'of an endpoint in the other mode': bounded(LOOKED_THROUGH, THROUGH, (on) =>
      on.search(search({ mode: 'test', endpointId: ENDPOINTS.alive })),
    ),
    'of an event': (on, facts) => on.search(search({ eventId: event(facts) })),
    'of an invoice': (on, facts) => on.search(search({ invoiceIds: [facts.invoiceId(facts.recent)] })),
    'of one day': (on, facts) =>
      on.search(search({ createdFrom: facts.now - 100 * DAY_MS, createdBefore: facts.now - 99 * DAY_MS })),
  },
  countCreated: bounded(
    COUNT_MAX + 1_000,
    'counts the deliveries of a minute up to 10,000, for an operator',
    (on, facts) => on.countCreated(ENDPOINTS.alive, facts.now - 60_000),
  ),
  ofEvents: (on, facts) => on.ofEvents(BUSY, [event(facts)]),
  health: {
    'of an endpoint that takes everything': (on) => on.health(ENDPOINTS.alive),
    'of an endpoint with a backlog': bounded(
      COUNT_MAX + 1_000,
      'counts what waits up to 10,000, which is what the page shows',
      (on) => on.health(ENDPOINTS.dead),
    ),
    'of a disabled endpoint': bounded(
      COUNT_MAX + 1_000,
      'counts what is held up to 10,000, which is what the page shows',
      (on) => on.health(ENDPOINTS.held),
    ),
  },
  listEvents: {
    newest: (on) => on.listEvents({ workspaceId: BUSY, mode: MODE, invoiceIds: null, after: null, limit: 25 }),
    oldest: (on) =>
      on.listEvents({ workspaceId: BUSY, mode: MODE, invoiceIds: null, order: 'oldest', after: null, limit: 25 }),
    'of an invoice': (on, facts) =>
      on.listEvents({
        ...{ workspaceId: BUSY, mode: MODE, invoiceIds: [facts.invoiceId(facts.recent)], after: null, limit: 25 },
      }),
  },
  invoiceNumbers: BY_KEY,
}

const LOOKUPS: DeclaredQueries<ReturnType<typeof createDeliveryLookups>> = {
  list: {
    newest: (on) => on.list({ endpointIds: Object.values(ENDPOINTS), status: null, limit: 25 }),
    succeeded: bounded(
      5_000 * 3,
      'looks through 5,000 deliveries of each endpoint, for an operator and not in any loop',
      (on) => on.list({ endpointIds: Object.values(ENDPOINTS), status: 'succeeded', limit: 25 }),
    ),
    failed: (on) => on.list({ endpointIds: Object.values(ENDPOINTS), status: 'failed', limit: 25 }),
    pending: bounded(
      5_000 * 3,
      'looks through 5,000 deliveries of each endpoint, for an operator and not in any loop',
      (on) => on.list({ endpointIds: Object.values(ENDPOINTS), status: 'pending', limit: 25 }),
    ),
    held: bounded(
      5_000 * 3,
      'looks through 5,000 deliveries of each endpoint, for an operator and not in any loop',
      (on) => on.list({ endpointIds: Object.values(ENDPOINTS), status: 'held', limit: 25 }),
    ),
  },
  ofEvents: (on, facts) => on.ofEvents(ENDPOINTS.alive, [event(facts)]),
  eventsAfter: (on, { now }) => on.eventsAfter(BUSY, { createdAt: now - 100 * DAY_MS, id: '' }, now, 100),
}

const RECOVERIES: DeclaredQueries<ReturnType<typeof createRecoveryRepository>> = {
  request: BY_KEY,
  findById: BY_KEY,
  listByEndpoint: (on) => on.listByEndpoint(ENDPOINTS.alive, 10),
  due: (on, { now }) => on.due(now, 10),
  claim: BY_KEY,
  progress: BY_KEY,
  pause: BY_KEY,
  finish: BY_KEY,
}

const ENDPOINT_ROWS: DeclaredQueries<ReturnType<typeof createEndpointRepository>> = {
  insert: BY_KEY,
  findById: BY_KEY,
  findByIds: BY_KEY,
  list: (on) => on.list(BUSY, MODE),
  listOf: (on) => on.listOf([BUSY]),
  count: (on) => on.count(BUSY),
  remove: BY_KEY,
  restrictToLive: BY_KEY,
}

const LIMITED: DeclaredQueries<ReturnType<typeof createLimitedEndpoints>> = {
  report: BY_KEY,
  list: (on, { now }) => on.list(now),
}

const OPERATIONS: DeclaredQueries<ReturnType<typeof createEndpointOperations>> = {
  insert: BY_KEY,
  update: BY_KEY,
  remove: BY_KEY,
  restrictToLive: BY_KEY,
  setStatus: BY_KEY,
  rotate: BY_KEY,
  addDelivery: BY_KEY,
  isRecorded: BY_KEY,
}

const EVENTS: DeclaredQueries<ReturnType<typeof createEventRepository>> = {
  insertMany: BY_KEY,
  findByIds: BY_KEY,
  listByInvoice: (on, facts) => on.listByInvoice(facts.invoiceId(facts.recent)),
}

/** What is asked about events, deliveries and endpoints. */
export const DELIVERY_QUESTIONS = [
  ...questionsOf('deliveries', 'workers', createDeliveryRepository, DELIVERIES),
  ...questionsOf('delivery reads', 'dashboard', createDeliveryReads, READS),
  ...questionsOf('delivery lookups', 'command line', createDeliveryLookups, LOOKUPS),
  ...questionsOf('recoveries', 'idle', createRecoveryRepository, RECOVERIES),
  ...questionsOf('endpoints', 'rest', createEndpointRepository, ENDPOINT_ROWS),
  ...questionsOf('limited endpoints', 'idle', createLimitedEndpoints, LIMITED),
  ...questionsOf('endpoint operations', 'dashboard', createEndpointOperations, OPERATIONS),
  ...questionsOf('events', 'workers', createEventRepository, EVENTS),
]
