import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainMeasurements } from '#shared/ports/cursors.ts'

/** The part of a cursor's change that shows something of the chain's pace. */
export interface CursorChange {
  readonly height?: number
  readonly time?: Ms
  readonly headHeight?: number
  readonly finalizedHeight?: number | null
}

/** Nothing is measured yet. */
export const UNMEASURED: ChainMeasurements = { marks: [], finality: [], reorg: null }

/** Two marks are at least so far apart: header times are whole seconds, and single blocks of proof of work say nothing. */
const MARK_EVERY_MS = 60_000
const MARK_EVERY_BLOCKS = 10
/** 240 blocks or more: the median of Bitcoin's intervals is then within a sixth of their mean with 95 % probability. */
const MARKS_MAX = 25
const FINALITY_MAX = 15
/** A header may be ahead of our clock by so much and still count: clocks differ. */
const AHEAD_MAX_MS = 30_000
const REORG_LIFE_MS = 30 * 24 * 3_600_000

/**
 * The measurements after a cursor moved; the same object when the move shows nothing new. Marks above the new height or ahead of our clock are
 * dropped, and a header ahead of our clock leaves none: a writer of headers cannot make a chain look slower than our clock allows. Pure.
 */
export function measureMove(before: ChainMeasurements, change: CursorChange, now: Ms): ChainMeasurements {
  return measureFinality(measureBlock(before, change, now), change, now)
}

function measureBlock(before: ChainMeasurements, { height, time }: CursorChange, now: Ms): ChainMeasurements {
  if (height === undefined || time === undefined) return before
  const kept = before.marks.filter((mark) => mark[0] <= height && mark[1] <= now + AHEAD_MAX_MS)
  const [lastHeight, lastTime] = kept.at(-1) ?? [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const isNext = height - lastHeight >= MARK_EVERY_BLOCKS && time - lastTime >= MARK_EVERY_MS
  if (isNext && time <= now + AHEAD_MAX_MS) return { ...before, marks: [...kept, mark(height, time)].slice(-MARKS_MAX) }
  return kept.length === before.marks.length ? before : { ...before, marks: kept }
}

function measureFinality(before: ChainMeasurements, change: CursorChange, now: Ms): ChainMeasurements {
  const { headHeight, finalizedHeight } = change
  if (headHeight === undefined || finalizedHeight === undefined || finalizedHeight === null) return before
  const kept = before.finality.filter(([at]) => at <= now)
  if (now - (kept.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY) < MARK_EVERY_MS) return before
  const seen = mark(now, Math.max(0, headHeight - finalizedHeight))
  return { ...before, finality: [...kept, seen].slice(-FINALITY_MAX) }
}

const mark = (one: number, other: number): [number, number] => [one, other]

/** The measurements after a reorganisation of so many blocks was followed: the deepest one of 30 days stays. Pure. */
export function measureReorg(before: ChainMeasurements, depth: number, now: Ms): ChainMeasurements {
  const { reorg } = before
  const isCurrent = reorg !== null && reorg.at <= now && now - reorg.at < REORG_LIFE_MS
  return isCurrent && reorg.depth >= depth ? before : { ...before, reorg: { depth, at: now } }
}
