import { z } from 'zod'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { invoiceResource } from './http/invoice-resource.ts'
import { paymentResource } from './http/payment-resource.ts'

/** Version date of the interface (specification §9); every event carries it and a frozen event keeps the one it was made under. */
export const API_VERSION = '2026-10-01'

/** Body of a delivery (specification §6). `data.payment` is there on `payment.*` events only. */
export const eventBody = z.strictObject({
  id: z.string().regex(/^evt_[0-9a-z_]+$/),
  object: z.literal('event'),
  type: z.enum(EVENT_TYPES),
  api_version: z.literal(API_VERSION),
  livemode: z.boolean(),
  created_at: z.iso.datetime(),
  data: z.strictObject({ object: invoiceResource, payment: paymentResource.optional() }),
})
