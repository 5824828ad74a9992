import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import { newDelivery } from '#shared/usecases/outbox/relay-records.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { findEndpoint, requireEnabled } from './find-endpoint.ts'
import { testEvent } from './test-event.ts'

export type SendTestEventDeps = Uses<'endpoints' | 'operations' | 'notifier' | 'clock'> & {
  readonly urls: PublicUrls
}

export interface SendTestEventInput {
  readonly endpointId: string
  /** For endpoints that receive both modes; null takes the endpoint's own mode, or test if it receives both. */
  readonly mode: Mode | null
  /** A UUID, the same for every repetition of one request; together they create one event. */
  readonly opId: string
  readonly actor: string
  readonly reason?: string | null
}

/**
 * Sends a `webhook.test` event with a sample invoice to one endpoint, whatever its subscriptions: signed, retried and listed
 * like every other delivery. Throws `NOT_FOUND`, `INVALID_STATE` when the endpoint is disabled, and `VALIDATION_ERROR` for
 * a mode that it does not receive.
 */
export async function sendTestEvent(deps: SendTestEventDeps, input: SendTestEventInput): Promise<Delivery> {
  const endpoint = await findEndpoint(deps.endpoints, input.endpointId)
  requireEnabled(endpoint)
  const mode = input.mode ?? (endpoint.mode === 'both' ? 'test' : endpoint.mode)
  if (endpoint.mode !== 'both' && endpoint.mode !== mode) {
    throw new PaymeshError('VALIDATION_ERROR', {
      details: [{ path: 'mode', message: `the endpoint receives ${endpoint.mode} events only` }],
    })
  }
  const { workspaceId } = endpoint
  const event = testEvent({ workspaceId, mode, opId: input.opId, at: deps.clock.now(), urls: deps.urls })
  const delivery = newDelivery(event, endpoint.id, { generation: 0, dueAt: event.createdAt })
  await deps.operations.addDelivery(delivery, event, {
    id: `tested:${endpoint.id}:${input.opId}`,
    at: event.createdAt,
    actor: input.actor,
    action: 'endpoint.tested',
    subject: endpoint.id,
    workspaceId: endpoint.workspaceId,
    mode,
    detail: { event: event.id, delivery: delivery.id, ...reasonOf(input) },
  })
  deps.notifier.notify(QUEUES.webhooks, endpoint.id)
  return delivery
}
