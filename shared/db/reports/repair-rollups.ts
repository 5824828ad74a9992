import type { Database } from '#shared/db/connection/connect.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RollupControl, RollupSlot } from '#shared/ports/rollups.ts'
import { countSlot } from './rollup-counts.ts'
import { INVOICE_ROLLUPS_KEPT_MS } from './rollup-models.ts'
import { readChecked, saveChecked } from './rollup-position.ts'
import { createRollupRows, type DueSlot, HOUR_MS, slotId } from './rollup-rows.ts'
import { createWalks, SETTLED_AFTER_MS, WALKS, type WalkName } from './rollup-walks.ts'

/** What took this long from its stamp to the store is still found within the hour. */
const LATE_MS = 3 * HOUR_MS
/** Everything is compared once a week by a round per hour. */
const ROUNDS = 168
const AT_ONCE = 20

interface RepairScope {
  readonly at: Ms
  readonly control: RollupControl
  isKept(slot: RollupSlot): boolean
}

/** One round of `Rollups.repair`. A slot that is due is left alone: it is counted soon. */
export async function repairRollups(db: Database, scope: RepairScope): Promise<readonly RollupSlot[]> {
  const { at, control } = scope
  const found = new Map<string, RollupSlot>()
  for (const walk of WALKS) await collect(db, scope, found, walk, at - LATE_MS)
  const part = await nextPart(db, at)
  await collect(db, scope, found, 'created', part.from, part.until)
  const slots = [...found.values()]
  const wrong: RollupSlot[] = []
  for (let next = 0; next < slots.length && control.stop?.() !== true; next += AT_ONCE) {
    wrong.push(...(await correct(db, slots.slice(next, next + AT_ONCE), at)))
  }
  if (control.stop?.()) return wrong
  await saveChecked(db, part.until)
  if (wrong.length === 0) return []
  // A change that arrived while this round counted is not one that was missed.
  const lately = new Map<string, RollupSlot>()
  for (const walk of WALKS) await collect(db, scope, lately, walk, at - SETTLED_AFTER_MS)
  return wrong.filter((slot) => !lately.has(slotId(slot)))
}

async function collect(
  db: Database,
  { control, isKept }: RepairScope,
  into: Map<string, RollupSlot>,
  walk: WalkName,
  from: Ms,
  until?: Ms,
): Promise<void> {
  for await (const { found } of createWalks(db)[walk](from, until)) {
    for (const slot of found.flatMap(({ slots }) => slots)) if (isKept(slot)) into.set(slotId(slot), slot)
    if (control.stop?.()) return
  }
}

/** The next stretch of creations whose invoices are compared. */
async function nextPart(db: Database, at: Ms): Promise<{ readonly from: Ms; readonly until: Ms }> {
  const oldest = at - INVOICE_ROLLUPS_KEPT_MS
  const through = (await readChecked(db)) ?? oldest
  const from = through >= at - LATE_MS ? oldest : Math.max(oldest, through)
  return { from, until: from + Math.ceil(INVOICE_ROLLUPS_KEPT_MS / ROUNDS) }
}

async function correct(db: Database, slots: readonly RollupSlot[], at: Ms): Promise<readonly RollupSlot[]> {
  const rows = createRollupRows(db)
  const stored = new Map((await rows.find(slots)).map((one) => [slotId(one.due.slot), one]))
  const missing = slots.filter((slot) => !stored.has(slotId(slot)))
  if (missing.length > 0) await rows.mark(missing, at)
  const wrong = await Promise.all(
    [...stored.values()]
      .filter(({ row }) => row.dueAt === undefined)
      .map(async ({ due, row }) => ((await isCorrected(db, due, { ...row }, at)) ? [due.slot] : [])),
  )
  return [...missing, ...wrong.flat()]
}

async function isCorrected(
  db: Database,
  due: DueSlot,
  row: Readonly<Record<string, unknown>>,
  at: Ms,
): Promise<boolean> {
  const count = await countSlot(db, due.slot)
  const isSame = Object.entries(count.figures).every(
    ([key, value]) => JSON.stringify(row[key]) === JSON.stringify(value),
  )
  return !isSame && (await createRollupRows(db).store(due, count, at))
}
