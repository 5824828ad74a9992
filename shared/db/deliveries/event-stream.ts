import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import { type EventListener, HistoryLost, type StoredEvent } from '#shared/ports/event-stream.ts'
import { EVENTS } from '../events/event-model.ts'
import { WEBHOOK_DELIVERIES } from './delivery-model.ts'

type Document = mongoose.mongo.Document
type Changes = mongoose.mongo.ChangeStream<Document, Document>

/** How long the store waits for new events before it returns an empty batch, milliseconds. */
const AWAIT_MS = 500
/** Resume tokens of MongoDB are hexadecimal text; these have about 200 characters. */
const PLACE = /^[0-9A-Fa-f]{16,400}$/
/** Error codes of MongoDB for a token it cannot resume from: unusable or foreign tokens, and history that has rolled over. */
const LOST_CODES: readonly number[] = [2, 9, 136, 260, 280, 286, 40_647, 40_649, 50_811, 50_795]

/** Stored events and their resends by change streams: their history is the operation log of the replica set. */
export function createEventStream(db: Database) {
  return {
    /** Follows from now on; `reached` is called once it is active. `stop` resolves when no more events follow. */
    follow: (listener: EventListener): { stop(): Promise<void> } => {
      const changes = open(db, null)
      let stopped = false
      const run = async (): Promise<void> => {
        try {
          while (!stopped) {
            const change = await changes.tryNext()
            const event = change === null ? null : eventOf(change)
            if (event !== null) listener.event(event)
            const place = placeOf(changes.resumeToken)
            if (change === null && place !== null) listener.reached(place)
          }
        } catch (error) {
          if (!stopped) listener.broken(error)
        } finally {
          await changes.close().catch(() => undefined)
        }
      }
      const ended = run()
      return {
        stop: async () => {
          stopped = true
          await changes.close().catch(() => undefined)
          await ended
        },
      }
    },
    /**
     * Events stored after a position, up to a later one from `reached`, oldest first. Throws `HistoryLost`. The caller may stop
     * reading at any event.
     */
    async *since(place: string, through: string): AsyncIterable<StoredEvent> {
      if (!PLACE.test(place)) throw new HistoryLost('not a place of this stream')
      const changes = open(db, place)
      try {
        // Tokens compare as text: they begin with the time of the store in hexadecimal, most significant digit first.
        for (let reached = place; reached < through; reached = placeOf(changes.resumeToken) ?? reached) {
          const change = await next(changes)
          const event = change === null ? null : eventOf(change)
          if (event !== null) yield event
        }
      } finally {
        await changes.close().catch(() => undefined)
      }
    },
  }
}

/** The type of what {@link createEventStream} returns. */
export type EventStream = ReturnType<typeof createEventStream>

/** All streams have the same stages: a token of one is valid in each. The reader filters by workspace. */
function open(db: Database, place: string | null): Changes {
  const isEvent = { 'ns.coll': EVENTS.name }
  // Without those of a recovery, which may be very many and are not for a developer's machine.
  const isResend = {
    'ns.coll': WEBHOOK_DELIVERIES.name,
    'fullDocument.generation': { $gt: 0 },
    'fullDocument.recoveryId': null,
  }
  return db.connection
    .getClient()
    .db(db.name)
    .watch<Document, Document>(
      [
        { $match: { operationType: 'insert', $or: [isEvent, isResend] } },
        {
          $project: {
            'ns.coll': 1,
            'fullDocument._id': 1,
            'fullDocument.eventId': 1,
            'fullDocument.workspaceId': 1,
            'fullDocument.mode': 1,
            'fullDocument.type': 1,
            'fullDocument.eventType': 1,
          },
        },
      ],
      { maxAwaitTimeMS: AWAIT_MS, ...(place !== null && { resumeAfter: { _data: place } }) },
    )
}

async function next(changes: Changes): Promise<Document | null> {
  try {
    return await changes.tryNext()
  } catch (error) {
    const code = Object(error).code
    if (typeof code === 'number' && LOST_CODES.includes(code))
      throw new HistoryLost('the store cannot go on there', { cause: error })
    throw error
  }
}

function eventOf(change: Document): StoredEvent | null {
  const stored = change['fullDocument']
  const place = placeOf(change['_id'])
  if (stored === undefined || place === null) return null
  const resent = change['ns']?.coll === WEBHOOK_DELIVERIES.name
  return {
    id: String(resent ? stored.eventId : stored._id),
    workspaceId: String(stored.workspaceId),
    mode: stored.mode as Mode,
    type: (resent ? stored.eventType : stored.type) as EventType,
    resent,
    place,
  }
}

function placeOf(token: unknown): string | null {
  const data: unknown = Object(token)._data
  return typeof data === 'string' ? data : null
}
