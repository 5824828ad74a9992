import type { DeliveryDocument } from '#shared/db/deliveries/delivery-model.ts'
import type { EventDocument } from '#shared/db/events/event-model.ts'
import { must } from '../kernel/violation.ts'
import type { Arrival, KnownEndpoint } from '../world/book.ts'
import type { Sim } from '../world/sim.ts'
import type { History } from './history.ts'

const MINUTE_MS = 60_000
/** Pause after each attempt, as the interface promises it, milliseconds. */
export const PAUSES_MS = [0, 1, 5, 30, 120, 360, 720, 1_440].map((minutes) => minutes * MINUTE_MS)
/** Clocks are read over a network: so far they may be off. */
const CLOCK_MS = 60
/** A claim lives 20 s; who deleted an endpoint may still see what was claimed before. */
const CLAIM_MS = 25_000
const FINAL = new Set(['succeeded', 'failed'])

/** S9, S10: an event exists because an invoice said so, once and unchanged. */
export function checkEvent(history: History, before: EventDocument | null, after: EventDocument | null): void {
  must(before === null && after !== null, 'S10', () => `event ${before?._id} was changed after it was made`)
  if (after.type === 'webhook.test') return
  const published = history.published.get(after._id)
  must(
    published !== undefined && published.entry.kind === 'event',
    'S9',
    () => `event ${after._id} was told by no invoice`,
  )
  must(
    published.entry.type === after.type && published.entry.seq === after.seq,
    'S9',
    () => `event ${after._id} is ${after.type} instead of ${published.entry.type}`,
  )
  must(
    published.mode === after.mode && published.workspaceId === after.workspaceId,
    'S7',
    () => `event ${after._id} is another workspace's or mode's`,
  )
  const text = Buffer.from(after.body instanceof Uint8Array ? after.body : after.body.value()).toString()
  const { data, livemode } = JSON.parse(text) as { data: { object: { status: string } }; livemode: boolean }
  must(
    data.object.status === published.entry.snapshot.status,
    'S9',
    () => `event ${after._id} shows ${data.object.status}`,
  )
  must(
    livemode === (after.mode === 'live'),
    'S7',
    () => `event ${after._id} of ${after.mode} says livemode ${livemode}`,
  )
  must(!/whsec_|xpub/.test(text), 'S13', () => `event ${after._id} carries a secret`)
}

/** S7, S10, S15 for one write of one delivery. */
export function checkDelivery(sim: Sim, before: DeliveryDocument | null, after: DeliveryDocument | null): void {
  if (after === null) return
  const { _id: id } = after
  if (before === null) {
    const now = sim.store.now()
    const [event] = sim.store.collection('events').find({ _id: after.eventId }, now)
    must(event !== undefined, 'S10', () => `delivery ${id} has no event`)
    must(
      event['mode'] === after.mode && event['workspaceId'] === after.workspaceId,
      'S7',
      () => `delivery ${id} carries another workspace's or mode's event`,
    )
    const endpoint = sim.book.endpoints.get(after.endpointId)
    if (endpoint === undefined) return
    must(endpoint.workspaceId === after.workspaceId, 'S7', () => `delivery ${id} goes to another workspace`)
    must(
      endpoint.mode === 'both' || endpoint.mode === after.mode,
      'S7',
      () => `delivery ${id} of ${after.mode} goes to an endpoint of ${endpoint.mode}`,
    )
    const wanted = endpoint.events.includes('*') || endpoint.events.includes(after.eventType)
    must(wanted, 'S10', () => `delivery ${id} of ${after.eventType} was not asked for`)
    return
  }
  must(!FINAL.has(before.status), 'S15', () => `delivery ${id} was ${before.status} and changed`)
  const counted = after.attempt - before.attempt
  must(counted === 0 || counted === 1, 'S15', () => `delivery ${id} counts ${counted} attempts at once`)
  must(after.attempt <= 9, 'S15', () => `delivery ${id} was attempted ${after.attempt} times`)
  must(counted === 0 || before.leaseToken !== null, 'S15', () => `an outcome of ${id} was written without a lease`)
  must(
    counted === 1 || after.status === before.status,
    'S15',
    () => `delivery ${id} became ${after.status} without an attempt`,
  )
  checkAttempts(before, after)
  if (counted === 1) checkOutcome(sim, after)
}

/** S15: an outcome and its attempt are one write; nothing else touches the attempts of a delivery. */
function checkAttempts(before: DeliveryDocument, after: DeliveryDocument): void {
  const { _id: id, attempts = [], attempt } = after
  must(
    attempts.length === attempt,
    'S15',
    () => `delivery ${id} counts ${attempt} attempts and shows ${attempts.length}`,
  )
  if (attempt === before.attempt) return
  const newest = attempts.at(-1)
  must(
    newest?.number === attempt && newest.token === before.leaseToken && newest.error === after.lastError,
    'S15',
    () => `delivery ${id} shows attempt ${newest?.number} of ${newest?.token} as its newest, with ${newest?.error}`,
  )
}

function checkOutcome(sim: Sim, after: DeliveryDocument): void {
  const { _id: id, status, attempt } = after
  if (status === 'succeeded') {
    must(sim.book.taken.has(id), 'S11', () => `delivery ${id} succeeded and nobody took it`)
    return
  }
  if (status === 'failed') {
    must(attempt === 9, 'S15', () => `delivery ${id} failed for good after ${attempt} attempts`)
    return
  }
  const pause = PAUSES_MS[attempt - 1]
  must(pause !== undefined, 'S15', () => `delivery ${id} waits for attempt ${attempt + 1}`)
  const recorded = sim.recordedAt.get(id)
  if (recorded === undefined) return
  const wait = after.dueAt.getTime() - recorded.answeredAt
  must(
    wait >= pause - CLOCK_MS,
    'S15',
    () => `delivery ${id} is due ${pause - wait} ms too early after attempt ${attempt}`,
  )
  // A sender that was frozen after the answer takes its next step, and the time of it, when it goes on.
  const wasFrozen = [...sim.frozenAt].some(([name, at]) => name.startsWith('webhooks') && at >= recorded.answeredAt)
  must(
    wasFrozen || wait <= pause + 10_000,
    'S15',
    () => `delivery ${id} is due ${wait - pause} ms too late after attempt ${attempt}`,
  )
}

/** S10, S15 for a request that arrived: its delivery exists, is due, and its endpoint is still there. */
export function checkArrival(
  sim: Sim,
  arrival: Arrival,
  endpoint: KnownEndpoint,
  goneAt: ReadonlyMap<string, number>,
): void {
  const id = arrival.request.headers['X-Webhook-Id'] ?? ''
  const [found] = sim.store.collection('webhook_deliveries').find({ _id: id }, sim.store.now())
  const row = found as unknown as DeliveryDocument | undefined
  const wasFrozen = sim.frozenAt.get(arrival.sender.name)
  const delayed = wasFrozen !== undefined && arrival.at - wasFrozen < CLAIM_MS
  const gone = goneAt.get(endpoint.id)
  if (gone !== undefined && !delayed) {
    must(
      arrival.at - gone <= CLAIM_MS,
      'S10',
      () => `endpoint ${endpoint.id} got a request ${arrival.at - gone} ms after its deletion`,
    )
  }
  if (row === undefined) {
    must(endpoint.deletedAt !== null, 'S10', () => `a request of delivery ${id}, which does not exist`)
    return
  }
  must(row.endpointId === endpoint.id, 'S7', () => `delivery ${id} of ${row.endpointId} went to ${endpoint.id}`)
  const recorded = sim.recordedAt.get(id)
  if (recorded === undefined || recorded.attempt !== row.attempt || delayed) return
  const pause = PAUSES_MS[row.attempt - 1] ?? 0
  const waited = arrival.at - recorded.answeredAt
  must(
    waited >= pause - CLOCK_MS || row.status !== 'pending',
    'S15',
    () => `delivery ${id} was sent ${pause - waited} ms too early after attempt ${row.attempt}`,
  )
}
