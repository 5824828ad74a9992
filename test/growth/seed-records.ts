import type { AuditDocument } from '#shared/db/audit/audit-model.ts'
import { auditToDocument } from '#shared/db/audit/audited.ts'
import type { AttemptDocument, DeliveryDocument, EmbeddedAttempt } from '#shared/db/deliveries/delivery-model.ts'
import { deliveryToDocument } from '#shared/db/deliveries/delivery-repository.ts'
import type { EventDocument } from '#shared/db/events/event-model.ts'
import { eventToDocument } from '#shared/db/events/event-repository.ts'
import type { ExceptionDocument } from '#shared/db/exceptions/exception-model.ts'
import type { EventType } from '#shared/domain/enumerations.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { BUSY, DAY_MS, ENDPOINTS, eventTypesOf, type Facts, MODE, NETWORK, QUIET, SEEDED_KINDS } from './facts.ts'

/** Attempts are kept this long. */
const ATTEMPT_DAYS = 29
/** An answer as receivers give it. */
const BODY = new TextEncoder().encode(
  JSON.stringify({ type: 'invoice.paid', data: { object: { text: 'x'.repeat(600) } } }),
)

/** The events of an invoice. */
export function eventsAt(facts: Facts, index: number): EventDocument[] {
  const at = facts.createdAt(index)
  return eventTypesOf(facts, index).map((type, seq) =>
    eventToDocument({
      ...{ id: facts.eventId(index, seq + 1), workspaceId: facts.workspaceOf(index), mode: MODE },
      ...{ invoiceId: facts.invoiceId(index), seq: seq + 1, type, body: BODY, createdAt: at + seq * 1_000 },
    }),
  )
}

/** The delivery id of an event to an endpoint. */
export const deliveryId = (eventId: string, endpoint: keyof typeof ENDPOINTS): string => `whd_${eventId}_${endpoint}`

/** Deliveries of an invoice's events: taken by one endpoint, due or failed at a dead one, put aside at a disabled one. */
export function deliveriesAt(facts: Facts, index: number): DeliveryDocument[] {
  return eventTypesOf(facts, index)
    .flatMap((type, seq) => {
      const rows = [deliveryAt(facts, index, { seq: seq + 1, type, endpoint: 'alive' })]
      if (facts.workspaceOf(index) === QUIET) return rows
      if (seq === 0) rows.push(deliveryAt(facts, index, { seq: 1, type, endpoint: 'dead' }))
      if (seq === 1) rows.push(deliveryAt(facts, index, { seq: 2, type, endpoint: 'held' }))
      return rows
    })
    .map((row) => ({ ...deliveryToDocument(row), ...embedded(facts, index, row) }))
}

interface SeedEvent {
  readonly seq: number
  readonly type: EventType
  readonly endpoint: keyof typeof ENDPOINTS
}

function deliveryAt(facts: Facts, index: number, { seq, type, endpoint }: SeedEvent): Delivery {
  const at = facts.createdAt(index) + seq * 1_000
  const workspaceId = facts.workspaceOf(index)
  const eventId = facts.eventId(index, seq)
  const status =
    endpoint === 'alive' ? 'succeeded' : endpoint === 'held' ? 'held' : index % 2 === 0 ? 'failed' : 'pending'
  const isOver = status === 'succeeded' || status === 'failed'
  return {
    ...{ id: deliveryId(eventId, endpoint), eventId, eventType: type, workspaceId, mode: MODE, generation: 0, status },
    endpointId: workspaceId === QUIET ? `${ENDPOINTS[endpoint]}-quiet` : ENDPOINTS[endpoint],
    ...{ attempt: isOver ? 1 : 0, dueAt: at, leaseToken: null, claims: 1, createdAt: at },
    ...{ finishedAt: isOver ? at + 200 : null, lastError: status === 'failed' ? 'timeout' : null },
    lastStatusCode: status === 'succeeded' ? 200 : null,
  }
}

const ANSWER = {
  durationMs: 80,
  statusCode: 200,
  error: null,
  ip: '192.0.2.1',
  phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
  responseBody: 'ok',
} as const

/** The lease of every fourth invoice's deliveries was lost before their outcome was written: their attempts are elsewhere. */
const isLate = (index: number): boolean => index % 4 === 3
const isKept = (facts: Facts, index: number): boolean => facts.createdAt(index) >= facts.now - ATTEMPT_DAYS * DAY_MS

/** The request of a delivery that was made, while it is kept. */
function embedded(facts: Facts, index: number, { attempt, createdAt }: Delivery): Partial<DeliveryDocument> {
  if (attempt === 0 || isLate(index) || !isKept(facts, index)) return {}
  const at = new Date(createdAt)
  const made: EmbeddedAttempt = { number: 1, at, ...ANSWER, token: `claim-${index}` }
  return { attempts: [made], attemptsFrom: at }
}

/** Requests that are not in their delivery. */
export function attemptsAt(facts: Facts, index: number): AttemptDocument[] {
  if (!isLate(index) || !isKept(facts, index)) return []
  return eventTypesOf(facts, index).map((_type, seq) => {
    const id = deliveryId(facts.eventId(index, seq + 1), 'alive')
    return { _id: `${id}:1`, deliveryId: id, number: 1, at: new Date(facts.createdAt(index)), ...ANSWER }
  })
}

/** One inbox row for every sixth invoice; the newest in fifty are open. Money that nobody asked for names no invoice. */
export function exceptionAt(facts: Facts, index: number): ExceptionDocument[] {
  if (index % 6 !== 1) return []
  const kind = SEEDED_KINDS[((index - 1) / 6) % SEEDED_KINDS.length] ?? 'late'
  const isUnmatched = kind === 'unmatched'
  const open = index > facts.invoices * 0.98
  const at = facts.createdAt(index)
  const subject = isUnmatched ? unmatchedKey(facts, index) : facts.invoiceId(index)
  return [
    {
      ...{ _id: `${kind}:${subject}`, kind, workspaceId: facts.workspaceOf(index), mode: MODE, open },
      ...{
        invoiceId: isUnmatched ? null : facts.invoiceId(index),
        paymentKey: isUnmatched ? unmatchedKey(facts, index) : null,
      },
      ...{ detail: 'Money arrived that nobody asked for', openedAt: new Date(at) },
      closedAt: open ? null : new Date(at + DAY_MS),
      ...(!open && {
        resolved: {
          opId: `op-${index}`,
          by: 'user:a@example.com',
          at: new Date(at),
          resolution: 'closed',
          reason: null,
        },
      }),
    },
  ]
}

/** The transfer key that a unmatched transfer inbox row is about. */
export const unmatchedKey = (facts: Facts, index: number): string =>
  `${MODE}:${NETWORK}:0x${facts.matchKey(index)}${'f'.repeat(24)}:log:0`

/** One audit row for every third invoice, chained without gaps. */
export function auditAt(facts: Facts, index: number): AuditDocument[] {
  if (index % 3 !== 0) return []
  const { waits: _waits, ...row } = auditToDocument({
    ...{ id: `audit-${index}`, at: facts.createdAt(index), actor: `user:${index % 7}@example.com` },
    ...{
      action: 'golive.master_key_stated',
      subject: facts.invoiceId(index),
      workspaceId: BUSY,
      mode: MODE,
      detail: {},
    },
  })
  const seq = index / 3 + 1
  return [{ ...row, seq, prevHash: 'a'.repeat(64), hash: seq.toString(16).padStart(64, '0'), keyId: 'k1', mac: 'm' }]
}
