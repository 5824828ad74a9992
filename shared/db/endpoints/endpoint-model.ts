import { DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { WebhookEndpoint } from '#shared/ports/endpoints.ts'

/** A stored webhook endpoint; its secrets are sealed. */
export type EndpointDocument = Omit<WebhookEndpoint, 'id' | 'createdAt' | 'updatedAt' | 'disabledAt' | 'enabledAt'> & {
  _id: string
  createdAt: Date
  updatedAt: Date
  disabledAt?: Date
  enabledAt?: Date
}

/** The webhook_endpoints collection. */
export const WEBHOOK_ENDPOINTS = defineCollection<EndpointDocument>(
  'webhook_endpoints',
  {
    _id: TEXT,
    workspaceId: TEXT,
    url: TEXT,
    events: [String],
    mode: { type: String, enum: ['live', 'test', 'both'], required: true },
    description: optional(String),
    status: { type: String, enum: ['enabled', 'disabled'], required: true },
    sealedSecrets: [String],
    formerSecrets: [Object],
    rotatedBy: optional(String),
    createdAt: DATE,
    updatedAt: DATE,
    disabledAt: optional(Date),
    enabledAt: optional(Date),
    opId: optional(String),
  },
  [{ name: 'endpoint_workspace', key: { workspaceId: 1, _id: -1 } }],
)
