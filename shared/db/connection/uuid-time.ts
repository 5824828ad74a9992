import type { Ms } from '#shared/domain/invoice/model.ts'

/** Ids come from one process and creation times from the store's clock; the two never differ by more than this. */
export const ID_TIME_SLACK_MS = 3_600_000

/** The smallest UUID version 7 that can carry this time (RFC 9562 §5.7): the lower bound of an id range by time. */
export function uuidLowerBound(at: Ms): string {
  const hex = Math.max(0, Math.floor(at)).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** Bounds of ids of documents created from `from` until before `to` with an id below `beforeId` and above `afterId`; null when unbounded. */
export function idsCreated(
  from: Ms | null,
  to: Ms | null,
  beforeId: string | null,
  afterId: string | null = null,
): Record<string, string> | null {
  const least = from === null ? null : uuidLowerBound(from - ID_TIME_SLACK_MS)
  const until = to === null ? null : uuidLowerBound(to + ID_TIME_SLACK_MS)
  const bound = beforeId !== null && (until === null || beforeId < until) ? beforeId : until
  const isAfter = afterId !== null && (least === null || afterId >= least)
  if (least === null && bound === null && !isAfter) return null
  return {
    ...(isAfter ? { $gt: afterId } : least !== null && { $gte: least }),
    ...(bound !== null && { $lt: bound }),
  }
}

/** The time that a UUID version 7 carries, in milliseconds (RFC 9562 §5.7). */
export function uuidTime(id: string): Ms {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
