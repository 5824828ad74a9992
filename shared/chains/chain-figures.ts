import type { FactComparison, RowAge } from '#shared/contracts/chain-status.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainFigures } from '#shared/ports/chain-catalog.ts'
import type { ChainMeasurements } from '#shared/ports/cursors.ts'
import type { ChainDefinition, Depth } from './definitions/chain.ts'

/** A measured pace within this share of the row's is the row's: what is left is chance, and counts of confirmations stay the same. */
const TOLERANCE = 0.3
/** A measured pace counts up to so many times the row's, and down to the same part of it. */
const RANGE = 20
/** Finality is looked at once a poll, and header times are whole seconds: a smaller difference shows nothing. */
const FINALITY_SLACK_MS = 15_000
/** Fewer marks and looks than these are no measurement. */
const MARKS_MIN = 19
const FINALITY_MIN = 5
/** Networks change: a row that nobody compared for so long is a guess. */
const ROW_LIFE_MS = 180 * 24 * 3_600_000

/** The figures of a row at the pace that was measured, within a twentieth and twenty times the row's; the row's own where none was. Pure. */
export function chainFigures(row: ChainDefinition, measured: ChainMeasurements | null): ChainFigures {
  const { blockTimeMs, finalizesAfterMs, reorganisation } = row
  const paceMs = measuredBlockTimeMs(measured)
  return {
    isMeasured: paceMs !== null,
    blockTimeMs: bounded(blockTimeMs, paceMs),
    finalizesAfterMs: finalizesAfterMs === null ? null : bounded(finalizesAfterMs, measuredFinalityMs(measured)),
    finalityDepth: blocksOf(reorganisation, row, measured),
  }
}

/**
 * The blocks of a depth: those of its time at the measured pace, rounded up, and never fewer than its floor. So a node that claims another
 * pace lowers nothing below the floor, and raises nothing above twenty times the row's figure. A pace within 30 % of the row's leaves the row's
 * count. Pure.
 */
export function blocksOf(
  { ms, blocksMin }: Depth,
  { blockTimeMs: rowMs }: Pick<ChainDefinition, 'blockTimeMs'>,
  measured: ChainMeasurements | null,
): number {
  const paceMs = measuredBlockTimeMs(measured)
  return Math.max(blocksMin, Math.ceil(ms / (isOff(rowMs, paceMs) ? bounded(rowMs, paceMs) : rowMs)))
}

/** What a row states beside what was measured. A difference beyond 30 % means that the row is out of date, or the node's chain another one. Pure. */
export function compareFacts(row: ChainDefinition, measured: ChainMeasurements | null): FactComparison[] {
  const { blockTimeMs, finalizesAfterMs } = row
  const paceMs = measuredBlockTimeMs(measured)
  const finalityMs = finalizesAfterMs === null ? null : measuredFinalityMs(measured)
  const depth = blocksOf(row.reorganisation, row, measured)
  const deepest = measured?.reorg?.depth ?? null
  const isSlack = finalityMs === null || Math.abs(finalityMs - (finalizesAfterMs ?? 0)) <= FINALITY_SLACK_MS
  return [
    { fact: 'block_time', unit: 'ms', row: blockTimeMs, measured: paceMs, isOff: isOff(blockTimeMs, paceMs) },
    {
      ...{ fact: 'finality', unit: 'ms', row: finalizesAfterMs, measured: finalityMs },
      isOff: !isSlack && isOff(finalizesAfterMs ?? 0, finalityMs),
    },
    // Reorganisations are shallower than the row's as a rule: one near the depth that halts the scan is the news.
    {
      ...{ fact: 'reorganisation', unit: 'blocks', row: depth, measured: deepest },
      isOff: (deepest ?? 0) > (1 - TOLERANCE) * depth,
    },
  ]
}

/** When a row was last compared with the world, and whether that is more than 180 days ago. Pure. */
export function rowAge({ checked }: ChainDefinition, now: Ms): RowAge {
  return { ...checked, isOld: now - Date.parse(checked.on) > ROW_LIFE_MS }
}

function bounded(rowMs: Ms, measuredMs: Ms | null): Ms {
  return measuredMs === null ? rowMs : Math.min(RANGE * rowMs, Math.max(rowMs / RANGE, measuredMs))
}

function isOff(rowMs: Ms, measuredMs: Ms | null): boolean {
  return measuredMs !== null && Math.abs(measuredMs / rowMs - 1) > TOLERANCE
}

/** The median over the intervals between marks, so that headers of a few liars change nothing. Null until 180 blocks and eighteen minutes were seen. */
function measuredBlockTimeMs(measured: ChainMeasurements | null): Ms | null {
  const marks = measured?.marks ?? []
  if (marks.length < MARKS_MIN) return null
  const paces = marks.slice(1).map(([height, time], index) => {
    const [lastHeight, lastTime] = marks[index] ?? [height - 1, time]
    return (time - lastTime) / (height - lastHeight)
  })
  return median(paces)
}

/** The median distance from head to finality, at the measured pace. */
function measuredFinalityMs(measured: ChainMeasurements | null): Ms | null {
  const paceMs = measuredBlockTimeMs(measured)
  const seen = measured?.finality ?? []
  return paceMs === null || seen.length < FINALITY_MIN ? null : median(seen.map(([, blocks]) => blocks)) * paceMs
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}
