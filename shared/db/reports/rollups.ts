import type { Database } from '#shared/db/connection/connect.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RollupControl, RollupSlot, Rollups } from '#shared/ports/rollups.ts'
import { repairRollups } from './repair-rollups.ts'
import { countSlot } from './rollup-counts.ts'
import { INVOICE_ROLLUPS_KEPT_MS } from './rollup-models.ts'
import { type RollupPosition, readPosition, savePosition } from './rollup-position.ts'
import { createRollupRows, HOUR_MS, type RollupRows } from './rollup-rows.ts'
import { createWalks, hasNews, SETTLED_AFTER_MS, WALKS, type WalkBatch, type WalkName } from './rollup-walks.ts'

/** The front page shows a day of deliveries; a slot that has left that day is not counted any more. */
const DELIVERIES_KEPT_MS = 26 * HOUR_MS
/** A position that moved without a change is written this often. */
const SAVE_EVERY_MS = 30_000
/** Batches of a walk after which its place is kept, so that an interrupted round goes on there. */
const SAVE_EVERY_BATCHES = 20
const DUE_MAX = 40
const AT_ONCE = 4

interface Round {
  readonly db: Database
  readonly rows: RollupRows
  readonly at: Ms
  readonly control: RollupControl
  /** Changes that an earlier round, and this one, marked. */
  readonly before: ReadonlySet<string>
  readonly met: Set<string>
}

/**
 * Stored figures on MongoDB. A round walks along the times that every write stamps, marks the slots of what it finds, and then counts
 * marked slots in full. The place of a walk moves after its marks are stored, and a count is stored only while nobody marked its slot
 * since the count began: whoever dies, or works at the same time, leaves a slot that is counted again.
 */
export function createRollups(db: Database): Rollups {
  const rows = createRollupRows(db)
  let before: ReadonlySet<string> = new Set()
  let savedAt: Ms | null = null
  return {
    catchUp: async (at, control = {}) => {
      const stored = await readPosition(db)
      const round: Round = { db, rows, at, control, before, met: new Set() }
      const from = stored ?? startOf(at)
      const isIdle = !(await Promise.all([hasNews(db, from), rows.isAnyDue(at)])).includes(true)
      let position = isIdle ? settledAt(from, at) : from
      if (!isIdle) for (const walk of WALKS) position = await follow(round, walk, position)
      if (control.stop?.()) return 0
      // The first count takes long: whoever goes on with it need not walk again.
      if (position.asOf === null) await savePosition(db, position)
      // What a later round will meet again, it meets in this one too: nothing older has to be remembered.
      before = round.met
      const counted = isIdle ? 0 : await countDue(round)
      if (control.stop?.()) return counted
      if (counted > 0 || position.asOf === null || savedAt === null || at - savedAt >= SAVE_EVERY_MS) {
        await savePosition(db, { ...position, asOf: at })
        savedAt = at
      }
      return counted
    },
    repair: (at, control = {}) => repairRollups(db, { at, control, isKept: (slot) => isKept(slot, at) }),
  }
}

function startOf(at: Ms): RollupPosition {
  const [invoices, deliveries] = [at - INVOICE_ROLLUPS_KEPT_MS, at - DELIVERIES_KEPT_MS]
  return { created: invoices, changed: invoices, attempted: deliveries, announced: deliveries, asOf: null }
}

/** Every walk found nothing: what was stamped by then has arrived. */
function settledAt(from: RollupPosition, at: Ms): RollupPosition {
  const passed = WALKS.map((name) => [name, Math.max(from[name], at - SETTLED_AFTER_MS)] as const)
  return { ...from, ...Object.fromEntries(passed) }
}

const isKept = (slot: RollupSlot, at: Ms): boolean =>
  slot.at > at - (slot.of === 'invoices' ? INVOICE_ROLLUPS_KEPT_MS : DELIVERIES_KEPT_MS)

/** Marks what one walk finds and returns the position behind it. */
async function follow(round: Round, name: WalkName, from: RollupPosition): Promise<RollupPosition> {
  const { db, at, control } = round
  const settled = at - SETTLED_AFTER_MS
  let position = from
  let batches = 0
  for await (const batch of createWalks(db)[name](from[name])) {
    if (control.stop?.()) return position
    await mark(round, batch)
    position = { ...position, [name]: Math.max(from[name], Math.min(batch.through, settled)) }
    batches += 1
    if (batches % SAVE_EVERY_BATCHES !== 0) continue
    await savePosition(db, position)
    const share = Math.min(1, Math.max(0, (batch.through - from[name]) / Math.max(1, settled - from[name])))
    const through = new Date(batch.through).toISOString()
    control.report?.(`figures: ${name} read through ${through}, ${Math.floor(100 * share)} % of the time`)
  }
  return { ...position, [name]: Math.max(from[name], settled) }
}

async function mark({ rows, at, before, met }: Round, { through, found }: WalkBatch): Promise<void> {
  const fresh = found.filter(({ change }) => change === null || !before.has(change))
  await rows.mark(
    fresh.flatMap(({ slots }) => slots).filter((slot) => isKept(slot, at)),
    at,
  )
  if (through < at - SETTLED_AFTER_MS) return
  for (const { change } of found) if (change !== null) met.add(change)
}

async function countDue({ db, rows, at, control }: Round): Promise<number> {
  let counted = 0
  for (const of of ['invoices', 'deliveries'] as const) {
    while (control.stop?.() !== true) {
      const due = await rows.due(of, at, DUE_MAX)
      let stored = 0
      for (let next = 0; next < due.length; next += AT_ONCE) {
        const results = await Promise.all(
          due.slice(next, next + AT_ONCE).map(async (one) => await rows.store(one, await countSlot(db, one.slot), at)),
        )
        stored += results.filter(Boolean).length
      }
      counted += stored
      if (stored > 0 && counted % 1_000 < stored) control.report?.(`figures: counted ${counted} slots`)
      // Where nothing could be stored another process counts, or marks, the same: the next round goes on.
      if (stored === 0) break
    }
  }
  return counted
}
