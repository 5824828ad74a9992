import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { BYTES, OWNED_FIELDS, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { EventType } from '#shared/domain/enumerations.ts'

/** How long the store keeps an event. */
export const EVENT_LIFE_S = 180 * 86_400

/** The events collection; kept 180 days. */
export const EVENTS = defineCollection(
  'events',
  {
    _id: z.string(),
    ...OWNED_FIELDS,
    /** Absent for events without an invoice. */
    invoiceId: z.string().exactOptional(),
    seq: z.number(),
    type: textAs<EventType>(),
    /** The exact bytes that every delivery of it carries. */
    body: BYTES,
    createdAt: TIME,
  },
  [
    {
      name: 'event_invoice_seq',
      key: { invoiceId: 1, seq: 1 },
      unique: true,
      partialFilterExpression: { invoiceId: { $exists: true } },
    },
    { name: 'event_list', key: { workspaceId: 1, mode: 1, createdAt: 1, _id: 1 } },
    { name: 'event_life', key: { createdAt: 1 }, expireAfterSeconds: EVENT_LIFE_S },
  ],
)

/** A stored event. `body` holds the exact bytes that every delivery of it carries. */
export type EventDocument = StoredOf<typeof EVENTS>
