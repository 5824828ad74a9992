import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates, refusedDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ClaimWant, DeliveryAttempt, DeliveryOutcome } from '#shared/ports/deliveries.ts'
import {
  type AttemptDocument,
  attemptFromDocument,
  attemptToDocument,
  type Delivery,
  type DeliveryDocument,
  type EmbeddedAttempt,
  WEBHOOK_ATTEMPTS,
  WEBHOOK_DELIVERIES,
} from './delivery-model.ts'
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

/** Attempts in a delivery. It has nine at most, so this only bounds a row that is damaged. */
const KEPT = 10
/** Attempts outside of their delivery that are shown; they are rare. */
const LATE_MAX = 100

/**
 * Writes and reads attempts on MongoDB. An outcome and its attempt are one compare-and-set on the delivery. The attempt of a lease
 * that was lost happened too: it is stored in `webhook_attempts`.
 */
function createAttempts(db: Database) {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const late = db.collection(WEBHOOK_ATTEMPTS)
  return {
    finish: async (outcomes: readonly DeliveryOutcome[]): Promise<void> => {
      if (outcomes.length === 0) return
      const { matchedCount } = await deliveries.bulkWrite(outcomeWrites(outcomes), { ordered: false })
      if (matchedCount === outcomes.length) return
      const missing = await unrecorded(deliveries, outcomes)
      if (missing.length === 0) return
      await ignoringDuplicates(() => late.insertMany(missing.map(lateAttempt), { ordered: false }))
    },
    list: async (deliveryId: string): Promise<readonly DeliveryAttempt[]> => {
      const [row, others] = await Promise.all([
        deliveries.findOne({ _id: deliveryId }, { projection: { attempts: 1 } }),
        late.find({ deliveryId }).sort({ number: -1 }).limit(LATE_MAX).toArray(),
      ])
      const own = row?.attempts ?? []
      const recorded = new Set(own.map(({ token }) => lateId(deliveryId, token)))
      return [...own, ...others.filter(({ _id }) => !recorded.has(_id))]
        .map(attemptFromDocument)
        .sort((one, other) => one.number - other.number || one.at - other.at)
    },
  }
}

/**
 * The outcomes whose attempt is in no delivery, because the lease was lost. Where only the answer of an earlier try was lost, the
 * attempt is found by its token.
 */
async function unrecorded(
  deliveries: mongoose.mongo.Collection<DeliveryDocument>,
  outcomes: readonly DeliveryOutcome[],
): Promise<readonly DeliveryOutcome[]> {
  const found = await deliveries
    .find({ _id: { $in: outcomes.map(({ deliveryId }) => deliveryId) } }, { projection: { attempts: 1 } })
    .toArray()
  const recorded = new Set(found.flatMap(({ _id, attempts = [] }) => attempts.map(({ token }) => lateId(_id, token))))
  return outcomes.filter(({ deliveryId, leaseToken }) => !recorded.has(lateId(deliveryId, leaseToken)))
}

/**
 * The writes that record outcomes: one for all rows of a claim with the same outcome, because a write costs the store
 * far more than a row. Rows written together get one finish time, the latest of them. The pause before a retry begins at the
 * store's time of the write (`$$NOW`), so that no machine's clock makes a retry early.
 */
function outcomeWrites(outcomes: readonly DeliveryOutcome[]): mongoose.mongo.AnyBulkWriteOperation<DeliveryDocument>[] {
  const alike = new Map<string, DeliveryOutcome[]>()
  for (const outcome of outcomes) {
    const { leaseToken, result, attempt } = outcome
    const key = `${leaseToken} ${result} ${attempt.number} ${attempt.statusCode} ${attempt.error}`
    const known = alike.get(key)
    if (known === undefined) alike.set(key, [outcome])
    else known.push(outcome)
  }
  return [...alike.values()].map(writeOf)
}

function writeOf(alike: readonly DeliveryOutcome[]): mongoose.mongo.AnyBulkWriteOperation<DeliveryDocument> {
  const [first] = alike
  if (first === undefined) throw new Error('a group holds at least one outcome')
  const { leaseToken, result, attempt } = first
  const seen = { leaseToken: null, lastError: { $literal: attempt.error }, lastStatusCode: attempt.statusCode }
  const endedAt = Math.max(...alike.map((outcome) => outcome.attempt.at + Math.ceil(outcome.attempt.durationMs)))
  const retryAfterMs = Math.max(...alike.map((outcome) => outcome.retryAfterMs ?? Number.NEGATIVE_INFINITY))
  const ending =
    result === 'retry'
      ? { dueAt: { $add: ['$$NOW', retryAfterMs] } }
      : { status: { $literal: result }, finishedAt: toDate(endedAt) }
  const set = { ...seen, ...ending, attempt: { $add: ['$attempt', 1] }, attempts: longer(alike) }
  const ids = alike.map((outcome) => outcome.deliveryId)
  const filter = { _id: { $in: ids }, status: 'pending' as const, leaseToken }
  return { updateMany: { filter, update: [{ $set: set }, { $set: { attemptsFrom: { $min: '$attempts.at' } } }] } }
}

/** The attempts of each row with its newest: rows of a group find theirs by the position of their id. */
function longer(alike: readonly DeliveryOutcome[]) {
  const made = { $literal: alike.map(embedded) }
  const position = { $indexOfArray: [{ $literal: alike.map(({ deliveryId }) => deliveryId) }, '$_id'] }
  return { $slice: [{ $concatArrays: [{ $ifNull: ['$attempts', []] }, [{ $arrayElemAt: [made, position] }]] }, -KEPT] }
}

function embedded({ attempt, leaseToken }: DeliveryOutcome): EmbeddedAttempt {
  return { ...attemptToDocument(attempt), token: leaseToken }
}

const lateId = (deliveryId: string, leaseToken: string): string => `${deliveryId}:${leaseToken}`

function lateAttempt({ attempt, deliveryId, leaseToken }: DeliveryOutcome): AttemptDocument {
  return { ...attemptToDocument(attempt), _id: lateId(deliveryId, leaseToken), deliveryId }
}

type Deliveries = mongoose.mongo.Collection<DeliveryDocument>

/** True for rows that are due by the store's own clock, so that no machine's clock can send early. */
const IS_DUE = { $expr: { $lte: ['$dueAt', '$$NOW'] } }

/** Reads for all endpoints together before each endpoint with too few rows is read alone. */
const SHARED_READS = 2

/** Up to `limit` rows of each endpoint that fell due at `from` or later, oldest due first: one read for all of them, unless one hides the others. */
async function findDueRows(
  deliveries: Deliveries,
  wants: readonly ClaimWant[],
  from: Ms | null,
): Promise<readonly DeliveryDocument[]> {
  const found: DeliveryDocument[] = []
  let waitingForSlot = wants
  for (let read = 0; read < SHARED_READS && waitingForSlot.length > 0; read += 1) {
    const limit = waitingForSlot.reduce((sum, want) => sum + want.limit, 0)
    const rows = await oldestDue(deliveries, waitingForSlot, { limit, from })
    const byEndpoint = new Map(waitingForSlot.map(({ endpointId }) => [endpointId, [] as DeliveryDocument[]]))
    for (const row of rows) byEndpoint.get(row.endpointId)?.push(row)
    // A complete read has seen everything; a truncated one may hide some rows behind another endpoint's backlog.
    const isServed = ({ endpointId, limit: most }: ClaimWant): boolean =>
      rows.length < limit || (byEndpoint.get(endpointId)?.length ?? 0) >= most
    for (const want of waitingForSlot.filter(isServed)) {
      found.push(...(byEndpoint.get(want.endpointId) ?? []).slice(0, want.limit))
    }
    waitingForSlot = waitingForSlot.filter((want) => !isServed(want))
  }
  const rest = await Promise.all(
    waitingForSlot.map((want) => oldestDue(deliveries, [want], { limit: want.limit, from })),
  )
  return [...found, ...rest.flat()]
}

function oldestDue(
  deliveries: Deliveries,
  wants: readonly ClaimWant[],
  { limit, from }: { readonly limit: number; readonly from: Ms | null },
): Promise<DeliveryDocument[]> {
  const endpointIds = wants.map((want) => want.endpointId)
  const { filter, hint, sort } = dueRowsQuery(endpointIds, from)
  return deliveries.find(filter, { hint, projection: WITHOUT_ATTEMPTS }).sort(sort).limit(limit).toArray()
}

/**
 * The query behind `findDueRows`: a merge over the endpoints' stretches of the index, which reads hardly more entries
 * than it returns. Exported for the test that explains it.
 */
export const dueRowsQuery = (endpointIds: readonly string[], from: Ms | null) => ({
  filter: {
    status: 'pending' as const,
    endpointId: { $in: [...endpointIds] },
    ...(from !== null && { dueAt: { $gte: toDate(from) } }),
    ...IS_DUE,
  },
  hint: DUE_INDEX,
  sort: { dueAt: 1 } as const,
})

/**
 * Takes the rows that are unchanged since they were read, under one lease token and in one write. Throws when the store fails; a
 * row whose claim succeeded without a response falls due again when the lease ends.
 */
export async function claimRows(
  deliveries: Deliveries,
  rows: readonly Delivery[],
  token: string,
  leaseMs: number,
): Promise<readonly Delivery[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const ours = await take(deliveries, rows, token, leaseMs).then(
    (count) => (count === rows.length ? null : heldBy(deliveries, ids, token)),
    async (error: unknown) => {
      // Perhaps only the response was lost. Rows with the token are ours; others are left to their lease.
      const held = await heldBy(deliveries, ids, token).catch(() => new Set<string>())
      if (held.size === 0) throw error
      return held
    },
  )
  return rows
    .filter((row) => ours === null || ours.has(row.id))
    .map((row) => ({ ...row, leaseToken: token, claims: row.claims + 1 }))
}

/**
 * If `claims` and `attempt` are unchanged, no process claimed a row or recorded an outcome since it was read: the
 * row in hand is the row in the store and need not be read again. Nearly always one update for all rows.
 */
async function take(
  deliveries: Deliveries,
  rows: readonly Delivery[],
  token: string,
  leaseMs: number,
): Promise<number> {
  const alike = new Map<string, [Delivery, ...Delivery[]]>()
  for (const row of rows) {
    const key = `${row.claims} ${row.attempt}`
    const known = alike.get(key)
    if (known === undefined) alike.set(key, [row])
    else known.push(row)
  }
  const lease = { dueAt: { $add: ['$$NOW', leaseMs] }, leaseToken: { $literal: token } }
  const update = [{ $set: { ...lease, claims: { $add: ['$claims', 1] } } }]
  const writes = [...alike.values()].map((group) => {
    const [{ claims, attempt }] = group
    const _id = { $in: group.map((row) => row.id) }
    return { updateMany: { filter: { _id, status: 'pending' as const, claims, attempt, ...IS_DUE }, update } }
  })
  return (await deliveries.bulkWrite(writes, { ordered: false })).modifiedCount
}

/** Those of the rows that carry the lease token. */
async function heldBy(deliveries: Deliveries, ids: readonly string[], token: string): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await deliveries
    .find({ _id: { $in: [...ids] }, leaseToken: token }, { projection: { _id: 1 } })
    .toArray()
  return new Set(rows.map((row) => row._id))
}
