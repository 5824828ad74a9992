import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { paymentResource } from '#shared/contracts/http/payment-resource.ts'
import { timestamp } from '#shared/contracts/http/wire-types.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'

/** Version date of the API (specification §9); every event carries it, and a frozen event keeps its original one. */
export const API_VERSION = '2026-10-01'

/** Body of a delivery (specification §6). `data.payment` is present only on `payment.*` events. */
export const eventBody = z
  .strictObject({
    id: boundedText(100)
      .regex(/^evt_[0-9a-z_]+$/)
      .describe('The same for every delivery of this event: use it to deduplicate.'),
    object: z.literal('event'),
    type: z.enum(EVENT_TYPES).describe('What happened.'),
    api_version: z.literal(API_VERSION).describe('API version of the event.'),
    livemode: z.boolean().describe('False for test events.'),
    created_at: timestamp.describe('When it happened.'),
    data: z
      .strictObject({
        object: invoiceResource.describe('The invoice at the time of the event.'),
        payment: paymentResource.describe('The payment; on `payment.*` events only.').optional(),
      })
      .describe('Data of the event.'),
  })
  .meta({ id: 'Event', description: 'The body of a webhook delivery.' })
