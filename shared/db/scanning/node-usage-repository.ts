import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { DayUsage } from '#shared/ports/node-usage.ts'
import { NODE_USAGE } from './node-usage-model.ts'

/**
 * Counted calls on MongoDB. Increments add up, whichever process writes them; where two make a row at the same moment, MongoDB repeats the
 * upsert of the second.
 */
export function createNodeUsageRepository(db: Database) {
  const usage = db.collection(NODE_USAGE)
  return {
    /** Adds to what is stored, so that processes add up. Resolves when MongoDB acknowledged all rows. */
    add: async (rows: readonly DayUsage[]): Promise<void> => {
      if (rows.length === 0) return
      const operations = rows.map(({ day, firstAt, calls, units, bytes, ...key }) => {
        const { mode, network, provider, unit } = key
        const _id = [toDate(day).toISOString().slice(0, 10), mode, network, provider, unit].join('|')
        const begin = { ...key, day: toDate(day), firstAt: toDate(firstAt) }
        const update = { $inc: { calls, units, bytes }, $setOnInsert: begin }
        return { updateOne: { filter: { _id }, update, upsert: true as const } }
      })
      await usage.bulkWrite(operations, { ordered: false })
    },
    /** All rows from a day on (00:00 UTC). */
    since: async (day: Ms): Promise<readonly DayUsage[]> => {
      const found = await usage.find({ day: { $gte: toDate(day) } }).toArray()
      return found.map(({ _id, day: of, firstAt, ...same }) => ({ ...same, day: toMs(of), firstAt: toMs(firstAt) }))
    },
  }
}

/** The type of what {@link createNodeUsageRepository} returns. */
export type NodeUsageRepository = ReturnType<typeof createNodeUsageRepository>
