import type { ProductQuery } from '#shared/ports/workspace-page-query.ts'

/** The order of a list of links or products. Ids contain the time of creation. */
export const listSort = ({ order }: ProductQuery): { readonly _id: 1 | -1 } => ({ _id: order === 'oldest' ? 1 : -1 })

/** The condition on ids of the rows behind the last one of the page before. */
export function afterPlace({ order, beforeId }: ProductQuery): { _id?: { $gt: string } | { $lt: string } } {
  if (beforeId === null) return {}
  return { _id: order === 'oldest' ? { $gt: beforeId } : { $lt: beforeId } }
}
