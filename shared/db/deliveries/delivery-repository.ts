import type { Database } from '#shared/db/connection/connect.ts'
import { toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { refusedDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ClaimWant } from '#shared/ports/deliveries.ts'
import { createAttempts } from './delivery-attempts.ts'
import { claimRows, findDueRows, heldBy } from './delivery-claims.ts'
import { type Delivery, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import {
  DUE_INDEX,
  dueEndpoints,
  finishedAt,
  HELD_INDEX,
  heldAt,
  PENDING,
  pendingAt,
  WITHOUT_ATTEMPTS,
} from './delivery-scopes.ts'

/** Deliveries and their attempts on MongoDB. Claims and outcomes are fenced by lease token; times are the store's. */
export function createDeliveryRepository(db: Database) {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const attempts = createAttempts(db)
  return {
    /**
     * Inserts what is missing; rows that exist under the id, which event, endpoint and generation make, are left alone. Returns the ids of rows that are this caller's:
     * those that this call inserted, and claimed rows that its own lost first try inserted, by their lease token. Nobody else may
     * send a claimed row of them, and this caller may send no other. Throws when not all rows are known to be durable.
     */
    insertMany: async (rows: readonly Delivery[]): Promise<ReadonlySet<string>> => {
      if (rows.length === 0) return new Set()
      const documents = rows.map(deliveryToDocument)
      const insert = () => refusedDuplicates(() => deliveries.insertMany(documents, { ordered: false }))
      const idOf = (index: number) => rows[index]?.id ?? []
      const tokens = [...new Set(rows.flatMap(({ leaseToken }) => leaseToken ?? []))]
      const ours = new Set(rows.map(({ id }) => id))
      try {
        for (const id of (await insert()).flatMap(idOf)) ours.delete(id)
      } catch (error) {
        if (tokens.length === 0) throw error
        // Perhaps only the answer was lost. Under the same token it is asked again, and of the refused rows those with it are ours.
        const refused = (await insert()).flatMap(idOf)
        for (const id of refused) ours.delete(id)
        for (const token of tokens) for (const id of await heldBy(deliveries, refused, token)) ours.add(id)
      }
      return ours
    },

    /** Endpoints with pending rows due before `until`, with their oldest due time (a DISTINCT_SCAN). */
    dueEndpoints: async (until: Ms, limit: number): Promise<readonly { endpointId: string; dueAt: Ms }[]> => {
      // The index cannot say when the first row of all endpoints is due.
      if (!(await isAny(db, { of: WEBHOOK_DELIVERIES, filter: PENDING, hint: DUE_INDEX }))) return []
      const found = await deliveries.aggregate<{ _id: string; dueAt: Date }>(dueEndpoints(until, limit)).toArray()
      return found.map((row) => ({ endpointId: row._id, dueAt: toMs(row.dueAt) }))
    },
    /** Earliest due time of the endpoint's pending rows; null when none. */
    nextDue: async (endpointId: string): Promise<Ms | null> => {
      const next = await deliveries.findOne(pendingAt(endpointId), { sort: { dueAt: 1 }, projection: { dueAt: 1 } })
      return next === null ? null : toMs(next.dueAt)
    },
    /**
     * Rows that are due by the store's clock, up to `limit` of each endpoint; an endpoint's rows come oldest due first. Rows that fell
     * due before `from` are left out; null includes all.
     */
    findDue: async (wants: readonly ClaimWant[], from: Ms | null): Promise<readonly Delivery[]> =>
      (await findDueRows(deliveries, wants, from)).map(deliveryFromDocument),
    /**
     * Claims under one token, for `leaseMs`, those of the rows that are still due and unchanged since they were read, and increments their
     * `claims`. Returns the claimed rows, in the order given; `dueAt` is still the time at which they fell due.
     */
    claim: (rows: readonly Delivery[], token: string, leaseMs: number): Promise<readonly Delivery[]> =>
      claimRows(deliveries, rows, token, leaseMs),
    /** Writes outcomes and attempt rows, fenced by lease token. */
    finish: attempts.finish,
    /** Releases at once those of these rows that are claimed under the token and were not sent. */
    release: async (ids: readonly string[], token: string): Promise<void> => {
      const claimed = { _id: { $in: [...ids] }, status: 'pending' as const, leaseToken: token }
      await deliveries.updateMany(claimed, [{ $set: { dueAt: '$$NOW', leaseToken: null } }])
    },

    /**
     * Pauses pending rows of a disabled endpoint: unclaimed ones, and those claimed under `leaseToken`. Rows that
     * another process is sending are unchanged. Outcomes already recorded, and due times, are kept.
     */
    hold: async (endpointId: string, leaseToken: string | null): Promise<void> => {
      const pending = pendingAt(endpointId)
      const hint = DUE_INDEX
      await deliveries.updateMany({ ...pending, leaseToken: null }, { $set: { status: 'held' } }, { hint })
      if (leaseToken === null) return
      // They were due when they were claimed; the end of the lease is not a due time.
      const aside = [{ $set: { status: 'held', leaseToken: null, dueAt: '$$NOW' } }]
      await deliveries.updateMany({ ...pending, leaseToken }, aside, { hint })
    },
    /** Resumes paused rows of an endpoint: rows that fell due meanwhile are due now. */
    unhold: async (endpointId: string): Promise<number> => {
      const change = { $set: { status: 'pending' as const } }
      return (await deliveries.updateMany(heldAt(endpointId), change, { hint: HELD_INDEX })).modifiedCount
    },
    /** Endpoints with paused rows. */
    heldEndpoints: async (): Promise<readonly string[]> => {
      // Skips from one endpoint to the next by the index's first key: each may have a year's worth of rows.
      const found: string[] = []
      for (let after = ''; ; ) {
        const next = await deliveries.findOne(
          { status: 'held', endpointId: { $gt: after } },
          { hint: HELD_INDEX, sort: { endpointId: 1 }, projection: { endpointId: 1 } },
        )
        if (next === null) return found
        after = next.endpointId
        found.push(after)
      }
    },
    purge: async (endpointId: string, mode: Mode | null): Promise<number> => {
      const ofMode = mode === null ? {} : { mode }
      const pending = await deliveries.deleteMany({ ...pendingAt(endpointId), ...ofMode })
      const held = await deliveries.deleteMany({ ...heldAt(endpointId), ...ofMode }, { hint: HELD_INDEX })
      return pending.deletedCount + held.deletedCount
    },

    findById: async (id: string): Promise<Delivery | null> => {
      const stored = await deliveries.findOne({ _id: id }, { projection: WITHOUT_ATTEMPTS })
      return stored === null ? null : deliveryFromDocument(stored)
    },
    listByEvent: async (eventId: string): Promise<readonly Delivery[]> =>
      (
        await deliveries
          .find({ eventId }, { projection: WITHOUT_ATTEMPTS })
          .sort({ endpointId: 1, generation: 1 })
          .toArray()
      ).map(deliveryFromDocument),
    highestGeneration: async (eventId: string, endpointId: string): Promise<number> => {
      const last = await deliveries.findOne(
        { eventId, endpointId },
        { sort: { generation: -1 }, projection: { generation: 1 } },
      )
      return last?.generation ?? -1
    },
    /** The endpoint's latest succeeded or failed deliveries by finish time, newest first (index endpoint, finishedAt). */
    lastFinished: async (
      endpointId: string,
      limit: number,
    ): Promise<readonly Pick<Delivery, 'id' | 'status' | 'finishedAt'>[]> => {
      const finished = await deliveries
        .find(finishedAt(endpointId), { projection: { status: 1, finishedAt: 1 } })
        .sort({ finishedAt: -1 })
        .limit(limit)
        .toArray()
      return finished.map((row) => ({ id: row._id, status: row.status, finishedAt: toMsOrNull(row.finishedAt) }))
    },
    /** Requests of a delivery that are still stored (30 days), oldest first. */
    listAttempts: attempts.list,
  }
}

/** The type of what {@link createDeliveryRepository} returns. */
export type DeliveryRepository = ReturnType<typeof createDeliveryRepository>

/** The stored form of a delivery, and a delivery as it was stored, without its attempts. */
export const { toDocument: deliveryToDocument, toRecord: deliveryFromDocument } = WEBHOOK_DELIVERIES
