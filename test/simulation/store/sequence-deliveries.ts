import { sampleDelivery } from '#test/support/db-samples.ts'
import { auditNamed, endpointNamed, exceptionNamed, FUTURE, LEASE_MS, outcomeOf, PAST } from './contract-samples.ts'
import { pickSome, type StoreQuery } from './sequence-turn.ts'

const MODES = ['test', 'live'] as const

const DELIVERY_IDS = ['d-1', 'd-2', 'd-3', 'd-4', 'd-5', 'd-6'] as const
const TOKENS = ['t-1', 't-2', 't-3'] as const
const ENDPOINTS = ['endpoint-1', 'endpoint-2'] as const

/** Deliveries, and what the dispatcher writes beside them. */
export const DELIVERY_QUERIES: readonly StoreQuery[] = [
  ({ on, random, tick }) =>
    on.deliveries.insertMany(
      pickSome(random, DELIVERY_IDS).map((id) =>
        sampleDelivery(id, {
          eventId: random.pick(['e-1', 'e-2', 'e-3']),
          endpointId: random.pick(ENDPOINTS),
          mode: random.pick(MODES),
          generation: random.between(0, 2),
          dueAt: random.chance(0.2) ? FUTURE + tick() : tick(),
          createdAt: tick(),
        }),
      ),
    ),
  async ({ on, random, tick }) => {
    const wants = pickSome(random, ENDPOINTS).map((endpointId) => ({ endpointId, limit: random.between(1, 3) }))
    const rows = await on.deliveries.findDue(wants, random.pick([null, tick()]))
    await on.deliveries.claim(rows, random.pick(TOKENS), random.pick([0, LEASE_MS]))
  },
  async ({ on, random }) => {
    const token = random.pick(TOKENS)
    const outcomes = pickSome(random, DELIVERY_IDS).map((id) =>
      outcomeOf(id, token, random.pick(['succeeded', 'retry', 'failed']), random.pick([null, 0, LEASE_MS])),
    )
    await on.deliveries.finish(outcomes)
  },
  ({ on, random }) => on.deliveries.release(pickSome(random, DELIVERY_IDS), random.pick(TOKENS)),
  ({ on, random }) =>
    random.chance(0.2) ? on.deliveries.purge(random.pick(ENDPOINTS), random.pick([null, 'live'])) : Promise.resolve(),
  ({ on, random }) => on.deliveries.dueEndpoints(FUTURE, random.between(1, 2)),
  ({ on, random }) => on.deliveries.nextDue(random.pick(ENDPOINTS)),
  ({ on, random }) => on.deliveries.findById(random.pick(DELIVERY_IDS)),
  ({ on, random }) => on.deliveries.highestGeneration(random.pick(['e-1', 'e-2']), random.pick(ENDPOINTS)),
  ({ on, random }) => on.deliveries.listByEvent(random.pick(['e-1', 'e-2'])),
  ({ on, random, tick }) =>
    on.exceptions[random.pick(['open', 'openOnce'] as const)](
      pickSome(random, ['x-1', 'x-2']).map((id) =>
        exceptionNamed(id, { openedAt: tick(), workspaceId: random.pick([null, 'ws-1']) }),
      ),
    ),
  ({ on, random, tick }) => on.exceptions.close(pickSome(random, ['x-1', 'x-2']), tick()),
  ({ on, random, tick }) => on.exceptions.closeAudited('x-1', tick(), 0, auditNamed(`a-${random.between(1, 3)}`)),
  ({ on, random }) => on.exceptions.listOpen(random.pick([null, 'ws-1'])),
  ({ on, random }) =>
    on.endpoints.insert(endpointNamed(random.pick(['w-1', 'w-2']), { mode: random.pick(['test', 'both']) })),
  ({ on, random }) => on.endpoints.restrictToLive(random.pick(['w-1', 'w-2'])),
  ({ on, random }) => on.endpoints.list('ws-1', random.pick([null, 'live', 'test'])),
  ({ on, random }) =>
    on.events.insertMany(
      pickSome(random, ['e-1', 'e-2', 'e-3']).map((id) => ({
        id,
        workspaceId: 'ws-1',
        mode: 'test' as const,
        invoiceId: random.pick([null, 'i-1']),
        seq: random.between(1, 3),
        type: 'invoice.created' as const,
        body: random.bytes(6),
        createdAt: PAST,
      })),
    ),
  ({ on }) => on.events.listByInvoice('i-1'),
]
