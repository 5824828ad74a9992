import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ClaimWant, Delivery } from '#shared/ports/deliveries.ts'
import type { DeliveryDocument } from './delivery-model.ts'
import { DUE_INDEX, WITHOUT_ATTEMPTS } from './delivery-scopes.ts'

type Deliveries = mongoose.mongo.Collection<DeliveryDocument>

/** True for rows that are due by the store's own clock, so that no machine's clock can send early. */
const IS_DUE = { $expr: { $lte: ['$dueAt', '$$NOW'] } }

/** Reads for all endpoints together before each endpoint with too few rows is read alone. */
const SHARED_READS = 2

/** Up to `limit` rows of each endpoint that fell due at `from` or later, oldest due first: one read for all of them, unless one hides the others. */
export async function findDueRows(
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
export async function heldBy(
  deliveries: Deliveries,
  ids: readonly string[],
  token: string,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await deliveries
    .find({ _id: { $in: [...ids] }, leaseToken: token }, { projection: { _id: 1 } })
    .toArray()
  return new Set(rows.map((row) => row._id))
}
