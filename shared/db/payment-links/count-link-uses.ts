import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { ID_TIME_SLACK_MS, uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type CountedUses, PAYMENT_LINKS } from './payment-link-model.ts'

/** Invoices after the stored count beyond which the count is advanced. */
const BEHIND_MAX = 100
/** A stored count is advanced by at least this much time, so that a busy link is not written for each read. */
const ADVANCE_MIN_MS = 600_000

type Uses = ReadonlyMap<string, number>

const NONE: Uses = new Map()

/**
 * Invoices made from each of these links: what the link stores up to an id, and the invoices from that id on. An invoice with an id that is
 * older than an hour is stored or never will be (`ID_TIME_SLACK_MS`), and no invoice is ever removed or given to another link, so that a
 * stored count stays right. Only a compare-and-set on its id advances it: of many processes one adds the same invoices, and a
 * crash between reading and writing adds none. A create writes nothing for it.
 */
export async function countLinkUses(db: Database, ids: readonly string[], at: Ms): Promise<Uses> {
  const counted = await storedCounts(db, ids)
  const plain = ids.filter((id) => !counted.has(id))
  const [whole, ...tails] = await Promise.all([
    plain.length === 0 ? NONE : usesOf(db, usesPipeline(plain)),
    ...[...counted].map(([id, { through }]) => usesOf(db, usesPipeline([id], { $gte: through }))),
  ])
  const behind = new Map([...whole, ...tails.flatMap((tail) => [...tail])])
  for (const [id, uses] of behind) if (uses > BEHIND_MAX) await advance(db, id, { from: counted.get(id) ?? null, at })
  const all = ids.map((id) => [id, (counted.get(id)?.uses ?? 0) + (behind.get(id) ?? 0)] as const)
  return new Map(all.filter(([, uses]) => uses > 0))
}

/** Counts the invoices of each link in one pass over index keys; exported for the test that explains it. */
export function usesPipeline(ids: readonly string[], range: Range | null = null): mongoose.mongo.Document[] {
  const match = { paymentLinkId: { $in: [...ids] }, ...(range !== null && { _id: range }) }
  return [{ $match: match }, { $group: { _id: '$paymentLinkId', uses: { $sum: 1 } } }]
}

type Range = Readonly<{ $gte?: string; $lt?: string }>

async function usesOf(db: Database, pipeline: mongoose.mongo.Document[]): Promise<Uses> {
  const counted = await db
    .collection(INVOICES)
    .aggregate<{ _id: string; uses: number }>(pipeline, { hint: 'invoice_of_link' })
    .toArray()
  return new Map(counted.map(({ _id, uses }) => [_id, uses]))
}

async function storedCounts(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, CountedUses>> {
  const found = db.collection(PAYMENT_LINKS).find({ _id: { $in: [...ids] } }, { projection: { counted: 1 } })
  return new Map((await found.toArray()).flatMap(({ _id, counted }) => (counted == null ? [] : [[_id, counted]])))
}

/** Adds settled invoices to the stored count, unless another process advanced it meanwhile. */
async function advance(
  db: Database,
  id: string,
  { from, at }: { readonly from: CountedUses | null; readonly at: Ms },
): Promise<void> {
  const settledAt = at - ID_TIME_SLACK_MS
  if (from !== null && from.through > uuidLowerBound(settledAt - ADVANCE_MIN_MS)) return
  const through = uuidLowerBound(settledAt)
  const range = { ...(from !== null && { $gte: from.through }), $lt: through }
  const settled = (await usesOf(db, usesPipeline([id], range))).get(id) ?? 0
  const held = from === null ? { counted: { $exists: false } } : { 'counted.through': from.through }
  const counted = { through, uses: (from?.uses ?? 0) + settled }
  await db.collection(PAYMENT_LINKS).updateOne({ _id: id, ...held }, { $set: { counted } })
}
