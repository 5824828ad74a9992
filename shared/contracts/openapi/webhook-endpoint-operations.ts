import {
  createdWebhookEndpoint,
  deletedResource,
  listedWebhookEndpoint,
  webhookEndpointBody,
} from '#shared/contracts/http/webhook-endpoint.ts'
import {
  createdEndpointExample,
  deletedEndpointExample,
  endpointCreateExample,
  listedEndpointExample,
} from './examples/webhook-endpoint.ts'
import type { Operation } from './operation.ts'

/** The list has no pages; a plan allows 100 endpoints unless the operator raises it. */
const ENDPOINTS_MAX = 10_000

/** Operations on webhook endpoints. */
export const WEBHOOK_ENDPOINT_OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/webhook-endpoints',
    operationId: 'listWebhookEndpoints',
    tag: 'Webhook endpoints',
    summary: 'List webhook endpoints',
    description: "Every endpoint that receives events of the key's mode, newest first. Secrets are never returned.",
    scope: 'webhooks:manage',
    success: {
      status: 200,
      description: 'Every endpoint, on one page.',
      resource: listedWebhookEndpoint,
      envelope: 'WebhookEndpointListResponse',
      listMax: ENDPOINTS_MAX,
      example: listedEndpointExample,
    },
    errors: [],
  },
  {
    method: 'POST',
    path: '/webhook-endpoints',
    operationId: 'createWebhookEndpoint',
    tag: 'Webhook endpoints',
    summary: 'Create a webhook endpoint',
    description: 'The response carries the signing `secret`. It is never shown again: store it.',
    scope: 'webhooks:manage',
    body: { schema: webhookEndpointBody, example: endpointCreateExample },
    success: {
      status: 201,
      description: 'The new endpoint with its signing secret.',
      resource: createdWebhookEndpoint,
      envelope: 'WebhookEndpointCreatedResponse',
      listMax: null,
      example: createdEndpointExample,
    },
    errors: ['PLAN_LIMIT_REACHED', 'INVALID_STATE'],
  },
  {
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    operationId: 'deleteWebhookEndpoint',
    tag: 'Webhook endpoints',
    summary: 'Delete a webhook endpoint',
    description:
      'Deletes the endpoint and its pending deliveries. A test key on an endpoint of mode `both` only ends its test events.',
    scope: 'webhooks:manage',
    success: {
      status: 200,
      description: 'What was deleted.',
      resource: deletedResource,
      envelope: 'DeletedResponse',
      listMax: null,
      example: deletedEndpointExample,
    },
    errors: [],
  },
]
