import { z } from 'zod'
import { boundedText, optionalField } from '#shared/contracts/bounded-text.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { text } from './text.ts'
import { absoluteUrl, freeText, timestamp } from './wire-types.ts'

const EVENT_NAMES = ['*', ...EVENT_TYPES] as const
/** Which events an endpoint may receive. */
export const ENDPOINT_MODES = ['live', 'test', 'both'] as const

/** Body of `POST /webhook-endpoints`. The URL guard checks whether the URL may be called. */
export const webhookEndpointBody = z
  .strictObject({
    url: text(2_048).meta({
      format: 'uri',
      pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$',
      description:
        'Public https URL without credentials, as browsers write it, port 443 or from 1024 on. A development server accepts ' +
        '`http://localhost:<port>` from test keys.',
    }),
    events: z
      .array(z.enum(EVENT_NAMES, 'must be * or an event type'))
      .min(1, 'must contain at least one event type')
      .max(50)
      .describe('Event types, or `*` for all.'),
    mode: optionalField(
      z
        .enum(ENDPOINT_MODES)
        .describe('Events it receives: by default those of the mode of the key; `both` requires a live key.'),
    ),
    description: optionalField(text(500).describe('A note for you.')),
  })
  .meta({ id: 'WebhookEndpointCreate', description: 'Parameters of a webhook endpoint.' })

export type WebhookEndpointBody = z.output<typeof webhookEndpointBody>

const fields = z.strictObject({
  id: z.uuid().describe('Unique.'),
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
const secret = boundedText(128)
  .regex(/^whsec_[A-Za-z0-9+/=]+$/)
  .describe('Signing secret. It is shown only once.')

const warning = freeText(500)
  .nullable()
  .describe(
    'What is probably a mistake, such as another endpoint with the same URL, which then gets every event twice; null otherwise.',
  )

/** The public webhook endpoint in code: `secret` and `warning` are present only in the create response. */
export const webhookEndpointResource = fields.extend({ secret: secret.optional(), warning: warning.optional() })
export type WebhookEndpointResource = z.infer<typeof webhookEndpointResource>

/** The webhook endpoint in lists: without its secret. */
export const listedWebhookEndpoint = fields.meta({
  id: 'WebhookEndpoint',
  description: 'Your URL that receives signed events.',
})

/** The webhook endpoint in the create response: with its secret. */
export const createdWebhookEndpoint = fields
  .extend({ secret, warning })
  .meta({ id: 'WebhookEndpointCreated', description: 'A new webhook endpoint with its signing secret.' })

/** Response of a deletion. */
export const deletedResource = z
  .strictObject({
    id: z.uuid().describe('ID of the deleted endpoint.'),
    object: z.literal('webhook_endpoint').describe('The deleted endpoint.'),
    // No literal: the Python client of openapi-generator takes `const: true` for the string "true".
    deleted: z.boolean(),
  })
  .meta({ id: 'Deleted', description: 'The deleted endpoint.' })
