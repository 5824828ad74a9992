import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { objectAs, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { EventType } from '#shared/domain/enumerations.ts'

/** What a process measured of an endpoint that is at its own limit. */
export interface LimitedBy {
  /** Requests that this process may have in flight. */
  readonly limit: number
  /** Median of its latest successful answers; null when there were none. */
  readonly latencyMs: number | null
  /** True when failures and not the latency brought the limit down. */
  readonly isFailing: boolean
}

/** The webhook_endpoints collection. */
export const WEBHOOK_ENDPOINTS = defineCollection(
  'webhook_endpoints',
  {
    _id: z.string(),
    workspaceId: z.string(),
    url: z.string(),
    /** `*` or event types. */
    events: z.array(textAs<'*' | EventType>()),
    mode: z.enum(['live', 'test', 'both']),
    description: z.string().nullable(),
    /** Requests in flight that it may have at most, where that is fewer than the installation allows; null for the installation's number. */
    inFlightMax: z.number().nullable(),
    status: z.enum(['enabled', 'disabled']),
    /** AES-256-GCM envelopes of `whsec_…` secrets, current first. */
    sealedSecrets: z.array(z.string()),
    /** Secrets from before a rotation, newest first; each signs the Standard Webhooks header until it expires. */
    formerSecrets: z.array(z.object({ sealed: z.string(), until: z.number() })),
    /** The last rotation, so that a repetition of it is recognised. */
    rotatedBy: z.string().exactOptional(),
    createdAt: TIME,
    updatedAt: TIME,
    /** When it was last disabled; absent when it never was. */
    disabledAt: TIME.exactOptional(),
    /** When it was last enabled again; absent when it never was. */
    enabledAt: TIME.exactOptional(),
    opId: z.string().nullable(),
    /** When a process last had due deliveries for it and as many requests in flight as it takes; absent when none ever had. */
    limitedAt: TIME.exactOptional(),
    /** When that began. */
    limitedSince: TIME.exactOptional(),
    limitedBy: objectAs<LimitedBy>().exactOptional(),
  },
  [
    { name: 'endpoint_workspace', key: { workspaceId: 1, _id: -1 } },
    { name: 'endpoint_limited', key: { limitedAt: -1 }, partialFilterExpression: { limitedAt: { $exists: true } } },
  ],
)

/** An address of the merchant that receives events. */
export type WebhookEndpoint = RecordOf<typeof WEBHOOK_ENDPOINTS>

/** What its owner may change of an endpoint. */
export type EndpointChange = Pick<WebhookEndpoint, 'events' | 'description' | 'inFlightMax'>
