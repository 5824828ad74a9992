import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { refusedDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { EVENTS, type EventDocument } from './event-model.ts'

/** Events on MongoDB. Inserting an event again changes nothing: the first bytes win. */
export function createEventRepository(db: Database) {
  const events = db.collection(EVENTS)
  return {
    /** Inserts what is missing; the first bytes of an id win. Returns the ids of events that were stored before, perhaps with other bytes. */
    insertMany: async (records: readonly EventRecord[]): Promise<ReadonlySet<string>> => {
      if (records.length === 0) return new Set()
      const refused = await refusedDuplicates(() => events.insertMany(records.map(eventToDocument), { ordered: false }))
      return new Set(refused.flatMap((index) => records[index]?.id ?? []))
    },
    findByIds: async (ids: readonly string[]): Promise<ReadonlyMap<string, EventRecord>> => {
      const found = await events.find({ _id: { $in: [...ids] } }).toArray()
      return new Map(found.map((stored) => [stored._id, fromDocument(stored)]))
    },
    listByInvoice: async (invoiceId: string): Promise<readonly EventRecord[]> =>
      (await events.find({ invoiceId }).sort({ seq: 1 }).toArray()).map(fromDocument),
  }
}

/** The stored form of an event. */
export function eventToDocument(event: EventRecord): EventDocument {
  return {
    _id: event.id,
    workspaceId: event.workspaceId,
    mode: event.mode,
    ...(event.invoiceId !== null && { invoiceId: event.invoiceId }),
    seq: event.seq,
    type: event.type,
    body: new mongoose.mongo.Binary(event.body),
    createdAt: toDate(event.createdAt),
  }
}

function fromDocument(stored: EventDocument): EventRecord {
  return {
    id: stored._id,
    workspaceId: stored.workspaceId,
    mode: stored.mode,
    invoiceId: stored.invoiceId ?? null,
    seq: stored.seq,
    type: stored.type,
    body: stored.body instanceof mongoose.mongo.Binary ? stored.body.value() : stored.body,
    createdAt: toMs(stored.createdAt),
  }
}
