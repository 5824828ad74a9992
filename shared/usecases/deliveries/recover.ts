import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { DeliveryLookups } from '#shared/db/deliveries/delivery-lookups.ts'
import type { Recovery } from '#shared/db/deliveries/recovery-model.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import { findEndpoint, requireEnabled } from '#shared/usecases/endpoints/find-endpoint.ts'
import { newDelivery, subscribes } from '#shared/usecases/outbox/relay-records.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Events read in one step; all their deliveries are created before the position advances. */
const STEP_EVENTS = 500
const LEASE_MS = 30_000
/** One turn ends after this long; another recovery may have the next. */
const TURN_MS = 5_000
/** A disabled endpoint is checked again after this long. */
const DISABLED_PAUSE_MS = 30_000
const OVERDUE_MS = 1_000
const SWEEP_LIMIT = 50

type CarryOutRecoveryDeps = Runtime &
  Uses<'recoveries' | 'deliveries' | 'endpoints' | 'notifier'> & {
    readonly lookups: Pick<DeliveryLookups, 'eventsAfter' | 'ofEvents'>
  }

/**
 * Continues a recovery for one turn. Deliveries have deterministic ids and carry the recovery's id, and the position advances
 * after they are stored: it may stop at any line and run again in any process, and creates one delivery of each event.
 */
export async function carryOutRecovery(deps: CarryOutRecoveryDeps, id: string): Promise<void> {
  const token = deps.random.uuid()
  let recovery = await deps.recoveries.claim(id, token, LEASE_MS)
  const endsAt = deps.clock.now() + TURN_MS
  while (recovery !== null) {
    const endpoint = await deps.endpoints.findById(recovery.endpointId)
    if (endpoint === null) return finish(deps, recovery, token, 'cancelled')
    if (endpoint.status === 'disabled') return deps.recoveries.pause(id, token, DISABLED_PAUSE_MS)
    const next = await step(deps, recovery, endpoint)
    const { reachedEnd, ...progress } = next
    if (!(await deps.recoveries.progress(id, token, progress, LEASE_MS))) return
    recovery = { ...recovery, ...progress }
    if (reachedEnd) return finish(deps, recovery, token, 'done')
    if (deps.clock.now() < endsAt) continue
    await deps.recoveries.pause(id, token, 0)
    deps.notifier.notify(QUEUES.recoveries, id)
    return
  }
}

/** Recoveries without a wake-up, or whose worker died. */
export function overdueRecoveries(
  deps: Pick<CarryOutRecoveryDeps, 'recoveries' | 'clock'>,
): Promise<readonly string[]> {
  return deps.recoveries.due(deps.clock.now() - OVERDUE_MS, SWEEP_LIMIT)
}

async function step(deps: CarryOutRecoveryDeps, recovery: Recovery, endpoint: WebhookEndpoint) {
  const { workspaceId, place, until, scanned, made } = recovery
  const events = await deps.lookups.eventsAfter(workspaceId, place, until, STEP_EVENTS)
  // A test event is only for the tested endpoint, at the time of the test.
  const wanted = events.filter((event) => event.type !== 'webhook.test' && subscribes(endpoint, event))
  const known = await knownDeliveries(deps, endpoint.id, wanted)
  const now = deps.clock.now()
  const decided = wanted.map((event, index) =>
    decide(recovery, event, known.get(event.id) ?? [], now - (wanted.length - index)),
  )
  const rows = decided.filter((each): each is Delivery => each !== null && each !== 'made')
  if (rows.length > 0) {
    await deps.deliveries.insertMany(rows)
    deps.notifier.notify(QUEUES.webhooks, endpoint.id)
  }
  const last = events.at(-1)
  return {
    place: last === undefined ? place : { createdAt: last.createdAt, id: last.id },
    scanned: scanned + events.length,
    made: made + decided.filter((each) => each !== null).length,
    reachedEnd: events.length < STEP_EVENTS,
  }
}

async function knownDeliveries(
  { lookups }: CarryOutRecoveryDeps,
  endpointId: string,
  events: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, readonly Delivery[]>> {
  const known = new Map<string, Delivery[]>()
  const ids = events.map((event) => event.id)
  for (const delivery of await lookups.ofEvents(endpointId, ids)) {
    const ofEvent = known.get(delivery.eventId)
    if (ofEvent === undefined) known.set(delivery.eventId, [delivery])
    else ofEvent.push(delivery)
  }
  return known
}

/** The delivery to create; `made` when this recovery created it in an earlier run of the same step; null when none is needed. */
function decide(
  { id, endpointId, scope }: Recovery,
  event: Omit<EventRecord, 'body'>,
  known: readonly Delivery[],
  dueAt: number,
): Delivery | 'made' | null {
  if (known.some((delivery) => delivery.recoveryId === id)) return 'made'
  // A pending delivery will be sent anyway.
  if (known.some(({ status }) => status === 'pending' || status === 'held')) return null
  if (scope === 'failed' && known.some(({ status }) => status === 'succeeded')) return null
  const generation = known.reduce((highest, delivery) => Math.max(highest, delivery.generation + 1), 0)
  return { ...newDelivery(event, endpointId, { generation, dueAt }), createdAt: dueAt, recoveryId: id }
}

async function finish(
  deps: CarryOutRecoveryDeps,
  { id, endpointId, workspaceId, scanned, made }: Recovery,
  token: string,
  state: 'done' | 'cancelled',
): Promise<void> {
  const at = deps.clock.now()
  const finished = await deps.recoveries.finish(id, token, state, at, {
    id: `recovery_finished:${id}`,
    at,
    actor: 'system',
    action: `endpoint.recovery_${state}`,
    subject: endpointId,
    workspaceId,
    mode: null,
    detail: { recovery: id, scanned, made },
  })
  if (finished) deps.logger.info({ endpointId, recoveryId: id, state, scanned, made }, 'recovery of deliveries ended')
}

type RequestRecoveryDeps = Uses<'endpoints' | 'recoveries' | 'notifier' | 'clock'>

interface RequestRecoveryInput {
  readonly endpointId: string
  readonly since: Ms
  /** Exclusive; null means now. */
  readonly until: Ms | null
  readonly scope: Recovery['scope']
  /** A UUID, the same for every repetition of one request; together they create one recovery. */
  readonly opId: string
  readonly actor: string
  readonly reason?: string | null
}

/**
 * Requests to resend a period's events to an endpoint: `failed` for events that it never accepted (events while it was
 * disabled included), `all` for every event that it is subscribed to. Accepted at once, however many there are; a worker runs
 * it. Throws `NOT_FOUND`, `VALIDATION_ERROR` for an empty period, and `INVALID_STATE` when the endpoint is disabled or
 * another recovery of it is open.
 */
export async function requestRecovery(deps: RequestRecoveryDeps, input: RequestRecoveryInput): Promise<Recovery> {
  const { endpointId, since, scope, opId } = input
  const endpoint = await findEndpoint(deps.endpoints, endpointId)
  requireEnabled(endpoint)
  const at = deps.clock.now()
  const until = Math.min(input.until ?? at, at)
  if (!(since < until)) {
    throw new PaymeshError('VALIDATION_ERROR', {
      details: [{ path: 'since', message: 'must be in the past and before until' }],
    })
  }
  const { workspaceId } = endpoint
  const recovery: Recovery = {
    ...{ id: opId, workspaceId, endpointId, since, until, scope },
    ...{ state: 'open', scanned: 0, made: 0, requestedAt: at, finishedAt: null, dueAt: at, leaseToken: null },
    place: { createdAt: since, id: '' },
  }
  const standing = await deps.recoveries.request(recovery, {
    id: `recovery_requested:${opId}`,
    at,
    actor: input.actor,
    action: 'endpoint.recovery_requested',
    subject: endpointId,
    workspaceId,
    mode: endpoint.mode === 'both' ? null : endpoint.mode,
    detail: { recovery: opId, since: isoTime(since), until: isoTime(until), scope, ...reasonOf(input) },
  })
  if (standing.id !== opId && (standing.since !== since || standing.scope !== scope || input.until !== null)) {
    const progress = `${standing.scanned} events checked, ${standing.made} resent`
    throw invalidState(`Resend ${standing.id} since ${isoTime(standing.since)} is still running (${progress}).`)
  }
  if (standing.state === 'open') deps.notifier.notify(QUEUES.recoveries, standing.id)
  return standing
}

function isoTime(at: Ms): string {
  return new Date(at).toISOString()
}
