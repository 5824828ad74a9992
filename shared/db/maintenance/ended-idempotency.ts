import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { ID_TIME_SLACK_MS, uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Name of the fact that holds up to which invoice, in the order of ids, keys that ended were removed. */
const THROUGH_FACT = 'idempotency-removed-through'

/**
 * Removes the idempotency guards of the next `limit` invoices, in the order of their ids, that were made before `before`. The place is
 * stored after the removal: whoever dies in between removes the same again, which changes nothing. Touches neither version nor
 * `updatedAt`: what the guard answered ends by its own time, and the invoice stays as it is. Returns how many invoices it read.
 */
export async function removeEndedIdempotency(db: Database, before: Ms, limit: number): Promise<number> {
  const invoices = db.collection(INVOICES)
  const facts = db.collection(INSTALLATION)
  const through = (await facts.findOne({ _id: THROUGH_FACT }))?.value ?? ''
  // An id may carry another time than its guard: no invoice is passed whose guard still stands.
  const end = uuidLowerBound(before - ID_TIME_SLACK_MS)
  const found = await invoices
    .find({ _id: { $gt: through, $lt: end } }, { projection: { 'idem.at': 1 } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray()
  const standing = found.findIndex(({ idem }) => idem !== undefined && toMs(idem.at) >= before)
  const page = standing < 0 ? found : found.slice(0, standing)
  const last = page.at(-1)
  if (last === undefined) return 0
  const guarded = page.flatMap(({ _id, idem }) => (idem === undefined ? [] : [_id]))
  if (guarded.length > 0) {
    const ended = { _id: { $in: guarded }, 'idem.at': { $lt: toDate(before) } }
    await invoices.updateMany(ended, { $unset: { idem: '' } })
  }
  const change = { $set: { value: last._id }, $currentDate: { changedAt: true as const } }
  await facts.updateOne({ _id: THROUGH_FACT }, change, { upsert: true })
  return page.length
}
