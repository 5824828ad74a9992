import { ceilingOf, numberOf } from '#shared/domain/marks/mark-fields.ts'
import type { Issued, Mark } from '#shared/ports/marks.ts'

/** Longest life of a quote, a day of grace and the week before an address or amount is free again. */
export const QUARANTINE_MS = 9 * 86_400_000

/**
 * What may have been issued, by its marks: nothing at or above a key's ceiling was, and the store itself never says less than it issued. A series
 * is marked ahead of its last number.
 */
export function issuedFrom(marks: ReadonlyMap<string, Mark>): Issued {
  return {
    firstFree: ({ materialId, derivedCount, nextIndex }) =>
      Math.max(marks.get(ceilingOf(materialId))?.value ?? 0, derivedCount, nextIndex),
    lastNumber: ({ workspaceId, mode, number }) => Math.max(marks.get(numberOf(workspaceId, mode))?.value ?? 0, number),
  }
}
