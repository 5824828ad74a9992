import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { EventType } from '#shared/domain/enumerations.ts'

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
  },
  [{ name: 'endpoint_workspace', key: { workspaceId: 1, _id: -1 } }],
)

/** An address of the merchant that receives events. */
export type WebhookEndpoint = RecordOf<typeof WEBHOOK_ENDPOINTS>
