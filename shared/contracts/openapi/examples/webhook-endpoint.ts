import type { z } from 'zod'
import type {
  createdWebhookEndpoint,
  deletedResource,
  listedWebhookEndpoint,
  webhookEndpointBody,
} from '#shared/contracts/http/webhook-endpoint.ts'
import { EXAMPLE } from './ids.ts'

/** An endpoint in lists. */
export const listedEndpointExample: z.output<typeof listedWebhookEndpoint> = {
  id: EXAMPLE.endpointId,
  object: 'webhook_endpoint',
  livemode: true,
  url: 'https://shop.example.com/webhooks/paymesh',
  events: ['invoice.paid', 'invoice.overpaid', 'invoice.expired'],
  mode: 'live',
  description: 'Order fulfilment',
  status: 'enabled',
  created_at: EXAMPLE.createdAt,
  updated_at: EXAMPLE.createdAt,
}

/** The endpoint in the create response. The secret is the text `example secret, not a real one` in base64. */
export const createdEndpointExample: z.output<typeof createdWebhookEndpoint> = {
  ...listedEndpointExample,
  secret: 'whsec_ZXhhbXBsZSBzZWNyZXQsIG5vdCBhIHJlYWwgb25l',
  warning: null,
}

/** The request behind it. */
export const endpointCreateExample: z.input<typeof webhookEndpointBody> = {
  url: 'https://shop.example.com/webhooks/paymesh',
  events: ['invoice.paid', 'invoice.overpaid', 'invoice.expired'],
  description: 'Order fulfilment',
}

/** Response of its deletion. */
export const deletedEndpointExample: z.output<typeof deletedResource> = {
  id: EXAMPLE.endpointId,
  object: 'webhook_endpoint',
  deleted: true,
}
