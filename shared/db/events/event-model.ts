import type mongoose from 'mongoose'
import { COUNT, DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { EventType, Mode } from '#shared/domain/enumerations.ts'

/** A stored event. `body` holds the exact bytes that every delivery of it carries. */
export interface EventDocument {
  _id: string
  workspaceId: string
  mode: Mode
  /** Absent for events without an invoice. */
  invoiceId?: string
  seq: number
  type: EventType
  body: mongoose.mongo.Binary | Uint8Array
  createdAt: Date
}

/** How long the store keeps an event. */
export const EVENT_LIFE_S = 180 * 86_400

/** The events collection; kept 180 days. */
export const EVENTS = defineCollection<EventDocument>(
  'events',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    invoiceId: optional(String),
    seq: COUNT,
    type: TEXT,
    body: { type: Buffer, required: true },
    createdAt: DATE,
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
