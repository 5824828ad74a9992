import type { Ms } from '#shared/domain/invoice/model.ts'

/** Ids are minted by one process and creation times by the store's clock; two of them never differ by more than this. */
export const ID_TIME_SLACK_MS = 3_600_000

/** The smallest UUID version 7 that can carry this time (RFC 9562 §5.7): the lower bound of an id range by time. */
export function uuidFloor(at: Ms): string {
  const hex = Math.max(0, Math.floor(at)).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
