import type mongoose from 'mongoose'

/** Documents read for one page by filters that no index serves. */
const SCAN_MAX = 5_000

/** What a page shows. */
interface PageRead<T extends mongoose.mongo.Document> {
  /** The part of the filter that an index serves. */
  readonly filter: mongoose.mongo.Filter<T>
  /** Null where the planner combines several indexes. */
  readonly hint: string | null
  readonly sort: { readonly _id: 1 | -1 }
  /** Stages for the filters that no index serves. */
  readonly residual: readonly mongoose.mongo.Document[]
  readonly limit: number
}

/**
 * At most `limit` documents in this order, and the id behind which to continue; null at the end. Filters that no index serves see a bounded number of
 * documents at a time, so a page may hold fewer, even none, before the end. `without` is left out.
 */
export async function scannedPage<T extends { readonly _id: string }>(
  collection: mongoose.mongo.Collection<T>,
  { filter, hint, sort, residual, limit }: PageRead<T>,
  without: readonly (keyof T & string)[] = [],
): Promise<{ readonly page: readonly T[]; readonly next: string | null }> {
  const options = hint === null ? {} : { hint }
  const stages = [{ $match: filter }, { $sort: sort }, { $limit: SCAN_MAX }, ...residual, { $limit: limit + 1 }]
  const left = without.length === 0 ? [] : [{ $unset: [...without] }]
  const found = await collection.aggregate<T>([...stages, ...left], options).toArray()
  const page = found.slice(0, limit)
  if (found.length > limit) return { page, next: page.at(-1)?._id ?? null }
  if (residual.length === 0) return { page, next: null }
  const scanned = collection.find<Pick<T, '_id'>>(filter, { projection: { _id: 1 }, ...options }).sort(sort)
  const [last] = await scanned
    .skip(SCAN_MAX - 1)
    .limit(1)
    .toArray()
  return { page, next: last?._id ?? null }
}
