import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { DayUsage, NodeUsageRepository } from '#shared/ports/node-usage.ts'
import { NODE_USAGE } from './node-usage-model.ts'

const idOf = ({ day, mode, network, provider, method }: DayUsage): string =>
  [toDate(day).toISOString().slice(0, 10), mode, network, provider, method].join('|')

/** Counted calls on MongoDB. Increments add up, whichever process writes them. */
export function createNodeUsageRepository(db: Database): NodeUsageRepository {
  const usage = db.collection(NODE_USAGE)
  async function addAll(operations: Parameters<typeof usage.bulkWrite>[0]): Promise<void> {
    try {
      await usage.bulkWrite(operations, { ordered: false })
    } catch (error) {
      // Another process made the row in this moment; it exists now. The other rows are stored and must not be added again.
      const collided = bulkDuplicates(error)
      if (collided === null) throw error
      await usage.bulkWrite(
        operations.filter((_, index) => collided.includes(index)),
        { ordered: false },
      )
    }
  }
  return {
    add: async (rows, at) => {
      if (rows.length === 0) return
      const operations = rows.map((row) => {
        const { day, mode, network, provider, method, calls, requestBytes, responseBytes } = row
        return {
          updateOne: {
            filter: { _id: idOf(row) },
            update: {
              $inc: { calls, requestBytes, responseBytes },
              $setOnInsert: { day: toDate(day), mode, network, provider, method, firstAt: toDate(at) },
            },
            upsert: true as const,
          },
        }
      })
      await addAll(operations)
    },
    since: async (day) => {
      const found = await usage.find({ day: { $gte: toDate(day) } }).toArray()
      return found.map(({ day: of, mode, network, provider, method, calls, requestBytes, responseBytes, firstAt }) => {
        return {
          day: toMs(of),
          mode,
          network,
          provider,
          method,
          calls,
          requestBytes,
          responseBytes,
          firstAt: toMs(firstAt),
        }
      })
    },
  }
}
