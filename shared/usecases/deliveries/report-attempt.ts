import type { Ambient } from '#shared/ports/runtime.ts'
import type { ClaimedDelivery, SentDelivery } from './send-delivery.ts'

/** Logs and traces one attempt: the end of the path that a request begins, over invoice, event and delivery. */
export function reportAttempt(
  deps: Pick<Ambient, 'logger' | 'tracer'>,
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
