import { z } from 'zod'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { text } from './text.ts'

/** Body of `POST /webhook-endpoints`. Whether the URL may be called is asked of the URL guard. */
export const webhookEndpointBody = z.strictObject({
  url: text(2_048),
  events: z
    .array(z.enum(['*', ...EVENT_TYPES], 'must be * or an event type'))
    .min(1, 'must name at least one event type')
    .max(50),
  mode: z.enum(['live', 'test', 'both']).optional(),
  description: text(500).optional(),
})

export type WebhookEndpointBody = z.output<typeof webhookEndpointBody>

/** The public webhook endpoint; `secret` is there in the create response only. */
export const webhookEndpointResource = z.strictObject({
  id: z.uuid(),
  object: z.literal('webhook_endpoint'),
  livemode: z.boolean(),
  url: z.string(),
  events: z.array(z.string()),
  mode: z.enum(['live', 'test', 'both']),
  description: z.string().nullable(),
  status: z.enum(['enabled', 'disabled']),
  secret: z.string().optional(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type WebhookEndpointResource = z.infer<typeof webhookEndpointResource>

/** Answer of a deletion. */
export const deletedResource = z.strictObject({ id: z.uuid(), object: z.string(), deleted: z.literal(true) })
