import { z } from 'zod'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { explainFailure } from '#shared/usecases/explain-failure.ts'
import type { EndpointHealth } from '#shared/usecases/ports/delivery-search.ts'
import type { Recovery } from '#shared/usecases/ports/endpoint-tools.ts'
import type { WebhookEndpoint } from '#shared/usecases/ports/events.ts'

/** Failures in a row after which an endpoint counts as failing; so many are mailed to the owner as well. */
const STREAK = 3
const FAILURES_SHOWN = 3

const ms = z.number()
export const eventNames = z
  .array(z.enum(['*', ...EVENT_TYPES]))
  .min(1)
  .max(50)

/** How far sending again has come. */
export const recoveryWire = z.object({
  id: z.string(),
  endpointId: z.string(),
  state: z.enum(['open', 'done', 'cancelled']),
  scope: z.enum(['failed', 'all']),
  since: ms,
  until: ms,
  /** Time of the last event that was looked at. */
  reached: ms,
  scanned: z.number(),
  made: z.number(),
  askedAt: ms,
  finishedAt: ms.nullable(),
})

/** An endpoint with how it does. */
export const endpointWire = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  events: eventNames,
  mode: z.enum(['live', 'test', 'both']),
  status: z.enum(['enabled', 'disabled']),
  createdAt: ms,
  /** What an update names as its version. */
  updatedAt: ms,
  /** Former secrets sign the Standard Webhooks header until then; null when none does. */
  oldSecretUntil: ms.nullable(),
  health: z.object({
    verdict: z.enum(['healthy', 'failing', 'paused', 'unused']),
    /** Share of the latest hundred deliveries that arrived, 0 to 1; null before the first. */
    successRate: z.number().nullable(),
    judged: z.number(),
    /** Failed deliveries since the last one that arrived. */
    failingStreak: z.number(),
    /** Deliveries made since the last success that were tried and failed so far. */
    retrying: z.number(),
    lastSuccessAt: ms.nullable(),
    lastFailures: z.array(
      z.object({
        deliveryId: z.string(),
        eventType: z.enum(EVENT_TYPES),
        at: ms,
        /** No further try follows by itself. */
        final: z.boolean(),
        error: z.string().nullable(),
        explanation: z.string().nullable(),
      }),
    ),
    waiting: z.number(),
    held: z.number(),
    oldestDueAt: ms.nullable(),
  }),
  recovery: recoveryWire.nullable(),
})
export type EndpointWire = z.output<typeof endpointWire>

/** What a page shows of a recovery. */
export function recoveryToWire(recovery: Recovery): z.output<typeof recoveryWire> {
  const { id, endpointId, state, scope, since, until, place, scanned, made, askedAt, finishedAt } = recovery
  return { id, endpointId, state, scope, since, until, reached: place.createdAt, scanned, made, askedAt, finishedAt }
}

/** What a page shows of an endpoint; its secrets stay here. */
export function endpointToWire(
  endpoint: WebhookEndpoint,
  health: EndpointHealth,
  recovery: Recovery | null,
  now: number,
): EndpointWire {
  const { id, url, description, events, mode, status, createdAt, updatedAt } = endpoint
  const former = (endpoint.formerSecrets ?? []).map(({ until }) => until).filter((until) => until > now)
  return {
    ...{ id, url, description, events: [...events], mode, status, createdAt, updatedAt },
    oldSecretUntil: former.length === 0 ? null : Math.max(...former),
    health: healthToWire(status, health),
    recovery: recovery === null ? null : recoveryToWire(recovery),
  }
}

function healthToWire(status: WebhookEndpoint['status'], health: EndpointHealth): EndpointWire['health'] {
  const { finished, waiting, held, oldestDueAt } = health
  const succeeded = finished.filter((delivery) => delivery.status === 'succeeded')
  const lastSuccessAt = succeeded[0]?.finishedAt ?? null
  const firstSuccess = finished.findIndex((delivery) => delivery.status === 'succeeded')
  const failingStreak = firstSuccess === -1 ? finished.length : firstSuccess
  const retrying = health.retrying.filter(({ createdAt }) => createdAt > (lastSuccessAt ?? 0)).length
  const failing = failingStreak + retrying >= (lastSuccessAt === null ? 1 : STREAK)
  const unused = finished.length === 0 && retrying === 0
  return {
    verdict: status === 'disabled' ? 'paused' : unused ? 'unused' : failing ? 'failing' : 'healthy',
    successRate: finished.length === 0 ? null : succeeded.length / finished.length,
    judged: finished.length,
    ...{ failingStreak, retrying, lastSuccessAt },
    lastFailures: failuresOf(health),
    ...{ waiting, held, oldestDueAt },
  }
}

function failuresOf({ finished, retrying }: EndpointHealth): EndpointWire['health']['lastFailures'] {
  const failed = finished.filter(({ status }) => status === 'failed')
  const rows = [
    ...failed.map((row) => ({ ...row, at: row.finishedAt ?? 0, final: true })),
    ...retrying.map((row) => ({ ...row, at: row.createdAt, final: false })),
  ]
  const newest = rows.sort((left, right) => right.at - left.at).slice(0, FAILURES_SHOWN)
  return newest.map(({ id, eventType, at, final, lastError }) => ({
    ...{ deliveryId: id, eventType, at, final, error: lastError },
    explanation: lastError === null ? null : explainFailure(lastError),
  }))
}
