import type { Runtime } from '#shared/ports/runtime.ts'
import type { ClaimedDelivery, SentDelivery } from './send-delivery.ts'

/** Logs and traces one attempt, the last step of a trace from request over invoice and event to delivery. */
export function reportAttempt(
  deps: Pick<Runtime, 'logger' | 'tracer'>,
  { delivery, event, endpoint }: ClaimedDelivery,
  sent: SentDelivery,
): void {
  const { result, attempt } = sent.outcome
  const ids = { eventId: event.id, deliveryId: delivery.id, endpointId: endpoint.id, attempt: attempt.number }
  const answer = { result, status: attempt.statusCode ?? 0, error: attempt.error ?? '' }
  deps.logger.info({ invoiceId: event.invoiceId, ...ids, ...answer, durationMs: attempt.durationMs }, 'webhook attempt')
  deps.tracer?.record({
    name: 'webhook attempt',
    invoiceId: event.invoiceId,
    kind: 'client',
    durationMs: sent.durationMs,
    failed: result !== 'succeeded',
    attributes: { ...ids, ...answer },
  })
}
