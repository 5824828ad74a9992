import { z } from 'zod'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { text } from './text.ts'
import { absoluteUrl, freeText, timestamp } from './wire-types.ts'

const EVENT_NAMES = ['*', ...EVENT_TYPES] as const
/** Which events an endpoint may receive. */
export const ENDPOINT_MODES = ['live', 'test', 'both'] as const

/** Body of `POST /webhook-endpoints`. Whether the URL may be called is asked of the URL guard. */
export const webhookEndpointBody = z
  .strictObject({
    url: text(2_048).meta({
      format: 'uri',
      description:
        'Public https URL, port 443 or from 1024 on. A development server takes `http://localhost` from test keys.',
    }),
    events: z
      .array(z.enum(EVENT_NAMES, 'must be * or an event type'))
      .min(1, 'must name at least one event type')
      .max(50)
      .describe('Event types, or `*` for all.'),
    mode: z
      .enum(ENDPOINT_MODES)
      .describe('Which events it receives: those of the mode of the key by default; `both` needs a live key.')
      .optional(),
    description: text(500).describe('A note for you.').optional(),
  })
  .meta({ id: 'WebhookEndpointCreate', description: 'The wish for a webhook endpoint.' })

export type WebhookEndpointBody = z.output<typeof webhookEndpointBody>

const fields = z.strictObject({
  id: z.uuid().describe('Unique for ever.'),
  object: z.literal('webhook_endpoint'),
  livemode: z.boolean().describe('False when it only receives test events.'),
  url: absoluteUrl.describe('Where events are sent.'),
  events: z.array(z.enum(EVENT_NAMES)).min(1).max(50).describe('Event types it receives, or `*` for all.'),
  mode: z.enum(ENDPOINT_MODES).describe('Which events it receives.'),
  description: freeText(500).nullable().describe('Your own note.'),
  status: z.enum(['enabled', 'disabled']).describe('A disabled endpoint receives nothing.'),
  created_at: timestamp.describe('When it was created.'),
  updated_at: timestamp.describe('When it last changed.'),
})
const secret = z
  .string()
  .max(128)
  .regex(/^whsec_[A-Za-z0-9+/=]+$/)
  .describe('Signing secret. It is never shown again.')

/** The public webhook endpoint in code: `secret` is there in the create response only. */
export const webhookEndpointResource = fields.extend({ secret: secret.optional() })
export type WebhookEndpointResource = z.infer<typeof webhookEndpointResource>

/** The webhook endpoint as lists show it: without its secret. */
export const listedWebhookEndpoint = fields.meta({
  id: 'WebhookEndpoint',
  description: 'A URL of yours that receives signed events.',
})

/** The webhook endpoint as its creation shows it: with its secret. */
export const createdWebhookEndpoint = fields
  .extend({ secret })
  .meta({ id: 'WebhookEndpointCreated', description: 'A new webhook endpoint with its signing secret.' })

/** Answer of a deletion. */
export const deletedResource = z
  .strictObject({
    id: z.uuid().describe('Id that it had.'),
    object: z.literal('webhook_endpoint').describe('What was deleted.'),
    deleted: z.literal(true),
  })
  .meta({ id: 'Deleted', description: 'What was deleted.' })
