import type { ZodOpenApiCallbackObject, ZodOpenApiPathItemObject } from 'zod-openapi'
import { EXAMPLE } from '#shared/contracts/openapi/examples/ids.ts'
import { simulatedInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { API_VERSION, eventBody } from '#shared/contracts/webhooks/event.ts'

const header = (name: string, description: string, pattern: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string' as const, maxLength: 200, pattern },
})

/** A delivery's body as an example. */
export const EVENT_EXAMPLE = {
  id: `evt_${EXAMPLE.invoiceId.replaceAll('-', '')}_4`,
  object: 'event',
  type: 'invoice.paid',
  api_version: API_VERSION,
  livemode: false,
  created_at: EXAMPLE.paidAt,
  data: { object: simulatedInvoice },
}

const REQUEST = {
  required: true,
  description: 'The event.',
  content: { 'application/json': { schema: eventBody, example: EVENT_EXAMPLE } },
} as const
const RESPONSES = { '2XX': { description: 'The event was accepted. The response body is ignored.' } } as const

/**
 * The callback of creating an endpoint. It refers to `Event` from a path, so that generators which drop schemas without a path
 * keep it. Headers are declared only at the webhook: twice they would give two types of one name.
 */
export const EVENT_CALLBACK: ZodOpenApiCallbackObject = {
  '{$request.body#/url}': {
    post: {
      operationId: 'deliverEvent',
      tags: ['Events'],
      summary: 'Deliver an event',
      description: 'Each event that the endpoint subscribed to; its headers are described at the webhook `event`.',
      security: [],
      requestBody: REQUEST,
      responses: RESPONSES,
    },
  },
}

/** The only request from Paymesh to a merchant: an event. */
export const EVENT_WEBHOOK: ZodOpenApiPathItemObject = {
  post: {
    operationId: 'receiveEvent',
    tags: ['Events'],
    summary: 'Receive an event',
    description:
      'Sent to every endpoint that subscribed to the event. Verify the signature over the raw bytes before you parse them.',
    security: [],
    parameters: [
      header('X-Webhook-Id', 'Delivery: the same for every attempt of it.', '^whd_[0-9a-z]+$'),
      header('X-Webhook-Event', 'Type of the event.', '^[a-z_]+\\.[a-z_]+$'),
      header('X-Webhook-Timestamp', 'Unix time in seconds at which this attempt was signed.', '^[0-9]+$'),
      header('X-Webhook-Signature', 'HMAC-SHA256 of `<t>.<raw body>`.', '^t=[0-9]+,v1=[0-9a-f]{64}$'),
      header(
        'webhook-id',
        'Standard Webhooks: id of the event, the same for every delivery of it.',
        '^evt_[0-9a-z_]+$',
      ),
      header('webhook-timestamp', 'Standard Webhooks: the same Unix second.', '^[0-9]+$'),
      header(
        'webhook-signature',
        'Standard Webhooks: HMAC-SHA256 of `<id>.<timestamp>.<raw body>`, in base64, keyed with the bytes behind `whsec_`.',
        '^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$',
      ),
    ],
    requestBody: REQUEST,
    responses: RESPONSES,
  },
}
