import type { Ms } from '#shared/domain/invoice/model.ts'
import type { KeyCounters } from '#shared/ports/marks.ts'

/** Rounds shorter than this are too short to measure a rate by. */
const ROUND_MIN_MS = 500
/** A rate is measured over each stretch up to this long. */
const STRETCH_MS = 5_000

interface Sample {
  readonly at: Ms
  readonly nextIndexes: ReadonlyMap<string, number>
}

/**
 * Plans at least `least` addresses for each key, and as many as its fastest stretch of the last minutes would use in `gapMs`, for which nobody may
 * derive. It is measured by the process that derives, so a new one plans `least` until it has seen a second of load, and a rate that begins is
 * planned for in full after five. Indexes are reserved in blocks of `blockSize`: a stretch may show a block at its start and one at its end of which few
 * addresses were issued.
 */
export function createHeadroomPlan(least: number, gapMs: Ms, blockSize: number) {
  const planned = new Map<string, number>()
  /** From the oldest to the newest. */
  let samples: readonly Sample[] = []
  let last: readonly KeyCounters[] = []
  const of = (materialId: string): number => Math.max(least, planned.get(materialId) ?? 0)
  return {
    /** Notes the counters of a round. */
    note: (counters: readonly KeyCounters[], now: Ms): void => {
      last = counters
      const newest = samples.at(-1)
      if (newest !== undefined && newest.at > now) samples = []
      else if (newest !== undefined && now - newest.at < ROUND_MIN_MS) return
      for (const { materialId, nextIndex } of counters) {
        const rates = samples.map(({ at, nextIndexes }) => {
          return rateOf(nextIndex - (nextIndexes.get(materialId) ?? nextIndex), now - at, 2 * blockSize)
        })
        // Falls slowly: a tenth of a percent a second is half after eleven minutes.
        const fallen = Math.floor((planned.get(materialId) ?? 0) * 0.999)
        planned.set(materialId, Math.max(fallen, ...rates.map((rate) => Math.ceil(rate * gapMs))))
      }
      const nextIndexes = new Map(counters.map(({ materialId, nextIndex }) => [materialId, nextIndex]))
      const recent = samples.filter(({ at }) => now - at < STRETCH_MS)
      samples = [...recent, { at: now, nextIndexes }]
    },

    /** Addresses beyond the next one to be offered that a key should have. */
    of,

    /** Whether a key of the last round has fewer. */
    isAnyBehind: (): boolean =>
      last.some(({ materialId, nextIndex, derivedCount }) => derivedCount < nextIndex + of(materialId)),
  }
}

/** Addresses a millisecond: what may not be issued yet counts as used over a whole stretch, so that two reservations in a second are no rush. */
function rateOf(used: number, elapsedMs: Ms, unissuedMax: number): number {
  const unissued = Math.min(used, unissuedMax)
  return (used - unissued) / elapsedMs + unissued / Math.max(elapsedMs, STRETCH_MS)
}
