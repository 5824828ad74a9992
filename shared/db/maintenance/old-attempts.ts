import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/**
 * Removes attempts that began before a time from up to `limit` deliveries, those with the oldest attempts first, and returns from how many. The
 * index holds only deliveries that have attempts, by the oldest: nothing else is read. Status and due time are left alone, so it may run
 * beside a process that records an outcome of the same delivery.
 */
export async function removeOldAttempts(db: Database, before: Ms, limit: number): Promise<number> {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const old = { attemptsFrom: { $lt: toDate(before) } }
  const found = await deliveries
    .find(old, { projection: { _id: 1 }, hint: 'delivery_attempts' })
    .sort({ attemptsFrom: 1 })
    .limit(limit)
    .toArray()
  if (found.length === 0) return 0
  const kept = {
    $filter: { input: { $ifNull: ['$attempts', []] }, cond: { $gte: ['$$this.at', toDate(before)] } },
  }
  const present = { $cond: [{ $eq: ['$attempts', []] }, '$$REMOVE', '$attempts'] }
  const from = { $cond: [{ $eq: ['$attempts', []] }, '$$REMOVE', { $min: '$attempts.at' }] }
  const ids = { _id: { $in: found.map(({ _id }) => _id) } }
  await deliveries.updateMany(ids, [{ $set: { attempts: kept } }, { $set: { attempts: present, attemptsFrom: from } }])
  return found.length
}
