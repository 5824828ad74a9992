import { PaymeshError } from '#shared/contracts/errors.ts'
import type { InvoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { simulatedInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { API_VERSION } from '#shared/contracts/webhooks/event.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EndpointDeeds } from '#shared/ports/endpoint-operations.ts'
import type { EndpointRepository, WebhookEndpoint } from '#shared/ports/endpoints.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { type Clock, type Kicker, QUEUES } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import { deliveryId } from '#shared/usecases/outbox/delivery-id.ts'
import { findEndpoint, requireEnabled } from './find-endpoint.ts'

/** As long as a quote usually holds. */
const QUOTE_MS: Ms = 1_200_000

export interface SendTestEventDeps {
  readonly endpoints: Pick<EndpointRepository, 'findById'>
  readonly deeds: Pick<EndpointDeeds, 'addDelivery'>
  readonly kicker: Kicker
  readonly clock: Clock
  readonly urls: PublicUrls
}

export interface SendTestEventInput {
  readonly endpointId: string
  /** For endpoints that receive both; null takes the endpoint's own, and test where there are two. */
  readonly mode: Mode | null
  /** A UUID, the same for every repetition of one wish: it makes one event. */
  readonly opId: string
  readonly actor: string
  readonly reason?: string | null
}

/**
 * Sends a `webhook.test` event with a sample invoice to one endpoint, whatever it is subscribed to: signed, tried and listed
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
  const event = testEvent(endpoint, mode, input.opId, deps.clock.now(), deps.urls)
  const delivery = firstDelivery(event, endpoint.id)
  await deps.deeds.addDelivery(delivery, event, {
    id: `tested:${endpoint.id}:${input.opId}`,
    at: event.createdAt,
    actor: input.actor,
    action: 'endpoint.tested',
    subject: endpoint.id,
    workspaceId: endpoint.workspaceId,
    mode,
    detail: { event: event.id, delivery: delivery.id, ...reasonOf(input) },
  })
  deps.kicker.kick(QUEUES.webhooks, endpoint.id)
  return delivery
}

/** It belongs to no invoice: the sample's id is nobody's. */
function testEvent(endpoint: WebhookEndpoint, mode: Mode, opId: string, at: Ms, urls: PublicUrls): EventRecord {
  const id = eventId(opId, 0)
  const body = {
    id,
    object: 'event',
    type: 'webhook.test',
    api_version: API_VERSION,
    livemode: mode === 'live',
    created_at: new Date(at).toISOString(),
    data: { object: sampleInvoice(opId, mode, at, urls) },
  }
  return {
    id,
    workspaceId: endpoint.workspaceId,
    mode,
    invoiceId: null,
    seq: 0,
    type: 'webhook.test',
    body: new TextEncoder().encode(JSON.stringify(body)),
    createdAt: at,
  }
}

function sampleInvoice(id: string, mode: Mode, at: Ms, { checkoutBaseUrl }: PublicUrls): InvoiceResource {
  const time = new Date(at).toISOString()
  const later = new Date(at + QUOTE_MS).toISOString()
  const page = `${checkoutBaseUrl}/i/${id}`
  return {
    ...simulatedInvoice,
    id,
    livemode: mode === 'live',
    description: 'Sample invoice of a test event; nobody paid.',
    order_id: null,
    metadata: {},
    customer: { email: null, name: null },
    urls: { checkout: page, receipt: `${page}/receipt`, success: null, cancel: null },
    rate: simulatedInvoice.rate && { ...simulatedInvoice.rate, locked_at: time, expires_at: later },
    ...{ created_at: time, expires_at: later, paid_at: time, updated_at: time },
  }
}

function firstDelivery(event: EventRecord, endpointId: string): Delivery {
  return {
    id: deliveryId(event.id, endpointId, 0),
    eventId: event.id,
    eventType: event.type,
    endpointId,
    workspaceId: event.workspaceId,
    mode: event.mode,
    ...{ generation: 0, status: 'pending', attempt: 0, dueAt: event.createdAt, leaseToken: null, claims: 0 },
    ...{ createdAt: event.createdAt, finishedAt: null, lastError: null, lastStatusCode: null },
  }
}
