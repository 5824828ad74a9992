import { z } from 'zod'
import type { Recovery } from '#shared/db/deliveries/recovery-model.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { classifyEndpointHealth, ENDPOINT_HEALTH_STATES } from '#shared/domain/webhook/endpoint-health.ts'
import type { EndpointHealth } from '#shared/ports/delivery-search.ts'
import { explainFailure } from '#shared/usecases/deliveries/describe.ts'

const FAILURES_SHOWN = 3

const ms = z.number()
export const eventNames = z
  .array(z.enum(['*', ...EVENT_TYPES]))
  .min(1)
  .max(50)

/** Progress of a recovery. */
export const recoveryWire = z.object({
  id: z.string(),
  endpointId: z.string(),
  state: z.enum(['open', 'done', 'cancelled']),
  scope: z.enum(['failed', 'all']),
  since: ms,
  until: ms,
  /** Time of the last processed event. */
  reached: ms,
  scanned: z.number(),
  made: z.number(),
  requestedAt: ms,
  finishedAt: ms.nullable(),
})

/** An endpoint with its health. */
export const endpointWire = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  events: eventNames,
  mode: z.enum(['live', 'test', 'both']),
  status: z.enum(['enabled', 'disabled']),
  /** Requests in flight at most; null for the installation's number. */
  inFlightMax: z.number().nullable(),
  createdAt: ms,
  /** The version to send with an update. */
  updatedAt: ms,
  /** Former secrets sign the Standard Webhooks header until then; null when none does. */
  oldSecretUntil: ms.nullable(),
  health: z.object({
    state: z.enum(ENDPOINT_HEALTH_STATES),
    /** The latest deliveries that were tried at least once, at most a hundred; the figures down to `failedAttempts` refer to them. */
    tried: z.number(),
    firstTry: z.number(),
    delivered: z.number(),
    failed: z.number(),
    attempts: z.number(),
    failedAttempts: z.number(),
    /** Tried without success since the last successful one. */
    sinceSuccess: z.number(),
    lastSuccessAt: ms.nullable(),
    lastFailures: z.array(
      z.object({
        deliveryId: z.string(),
        eventType: z.enum(EVENT_TYPES),
        at: ms,
        /** No further automatic retry. */
        final: z.boolean(),
        error: z.string().nullable(),
        explanation: z.string().nullable(),
      }),
    ),
    /** Pending ones, and those of them that wait for another attempt. Counts end at 10,000. */
    waiting: z.number(),
    retrying: z.number(),
    held: z.number(),
    oldestDueAt: ms.nullable(),
  }),
  recovery: recoveryWire.nullable(),
})
export type EndpointWire = z.output<typeof endpointWire>

/** A recovery as shown on a page; the output of the procedure leaves out the rest of its record. */
export const recoveryToWire = (recovery: Recovery): z.output<typeof recoveryWire> => ({
  ...recovery,
  reached: recovery.place.createdAt,
})

/** An endpoint as shown on a page, without its secrets. */
export function endpointToWire(
  endpoint: WebhookEndpoint,
  health: EndpointHealth,
  recovery: Recovery | null,
  now: number,
): EndpointWire {
  const { id, url, description, events, mode, status, inFlightMax, createdAt, updatedAt } = endpoint
  const former = endpoint.formerSecrets.map(({ until }) => until).filter((until) => until > now)
  return {
    ...{ id, url, description, events: [...events], mode, status, inFlightMax, createdAt, updatedAt },
    oldSecretUntil: former.length === 0 ? null : Math.max(...former),
    health: healthToWire(endpoint, health, now),
    recovery: recovery === null ? null : recoveryToWire(recovery),
  }
}

function healthToWire(endpoint: WebhookEndpoint, health: EndpointHealth, now: number): EndpointWire['health'] {
  const { tried, waiting, retrying, held, oldestDueAt, lastSuccessAt } = health
  const isPaused = endpoint.status === 'disabled'
  const verdict = classifyEndpointHealth({ isPaused, tried, retrying, oldestDueAt, lastSuccessAt }, now)
  return { ...verdict, waiting, retrying, held, oldestDueAt, lastFailures: failuresOf(health) }
}

function failuresOf({ tried }: EndpointHealth): EndpointWire['health']['lastFailures'] {
  const rows = tried
    .filter(({ status }) => status !== 'succeeded')
    .map((row) => ({ ...row, at: row.finishedAt ?? row.createdAt, final: row.status === 'failed' }))
  const newest = rows.sort((left, right) => right.at - left.at).slice(0, FAILURES_SHOWN)
  return newest.map(({ id, eventType, at, final, lastError }) => ({
    ...{ deliveryId: id, eventType, at, final, error: lastError },
    explanation: lastError === null ? null : explainFailure(lastError),
  }))
}
