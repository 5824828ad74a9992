import type { Ms } from '#shared/domain/invoice/model.ts'
import type { KeyCounters } from '#shared/ports/marks.ts'

/**
 * Nobody derives for so long when the process that does is killed: its lease of 15 s and the time for which it is kept without a renewal, one round of the
 * next holder, and as much again.
 */
const GAP_MS = 70_000
/** Rounds shorter than this are too short to measure a rate by. */
const ROUND_MIN_MS = 500

/** How many addresses of each key are derived ahead, by how fast it is used. */
export interface HeadroomPlan {
  /** Notes the counters of a round. */
  note(counters: readonly KeyCounters[], now: Ms): void
  /** Addresses beyond the next one to be offered that a key should have. */
  of(materialId: string): number
  /** Whether a key of the last round has fewer. */
  isAnyBehind(): boolean
}

/**
 * Plans at least `least` addresses for each key, and as many as the busiest second of the last minutes would use while nobody derives. It is
 * measured by the process that derives, so a new one plans `least` until it has seen a second of load.
 */
export function createHeadroomPlan(least: number): HeadroomPlan {
  const planned = new Map<string, number>()
  let before = new Map<string, number>()
  let last: readonly KeyCounters[] = []
  let measuredAt: Ms | null = null
  const of = (materialId: string): number => Math.max(least, planned.get(materialId) ?? 0)
  return {
    note: (counters, now) => {
      last = counters
      const elapsedMs = measuredAt === null ? 0 : now - measuredAt
      if (measuredAt !== null && elapsedMs < ROUND_MIN_MS) return
      measuredAt = now
      for (const { materialId, nextIndex } of counters) {
        const used = nextIndex - (before.get(materialId) ?? nextIndex)
        const wanted = elapsedMs === 0 ? 0 : Math.ceil((used * GAP_MS) / elapsedMs)
        // Falls slowly: a tenth of a percent a second is half after eleven minutes.
        planned.set(materialId, Math.max(wanted, Math.floor((planned.get(materialId) ?? 0) * 0.999)))
      }
      before = new Map(counters.map(({ materialId, nextIndex }) => [materialId, nextIndex]))
    },
    of,
    isAnyBehind: () =>
      last.some(({ materialId, nextIndex, derivedCount }) => derivedCount < nextIndex + of(materialId)),
  }
}
