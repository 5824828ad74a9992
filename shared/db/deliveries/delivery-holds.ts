import type mongoose from 'mongoose'
import type { DeliveryRepository } from '#shared/ports/deliveries.ts'
import { DUE_INDEX } from './delivery-claims.ts'
import type { DeliveryDocument } from './delivery-model.ts'

/** Index that holds held rows only. */
export const HELD_INDEX = 'delivery_held'

/** Putting aside and taking up again what waits for a disabled endpoint. Every step may be repeated. */
export function createDeliveryHolds(
  deliveries: mongoose.mongo.Collection<DeliveryDocument>,
): Pick<DeliveryRepository, 'hold' | 'unhold' | 'heldEndpoints'> {
  return {
    hold: async (endpointId, leaseToken) => {
      const pending = { status: 'pending' as const, endpointId }
      const hint = DUE_INDEX
      await deliveries.updateMany({ ...pending, leaseToken: null }, { $set: { status: 'held' } }, { hint })
      if (leaseToken === null) return
      // They were due when they were claimed; the end of the lease is no due time.
      const aside = [{ $set: { status: 'held', leaseToken: null, dueAt: '$$NOW' } }]
      await deliveries.updateMany({ ...pending, leaseToken }, aside, { hint })
    },
    unhold: async (endpointId) => {
      const held = { status: 'held' as const, endpointId }
      const result = await deliveries.updateMany(held, { $set: { status: 'pending' } }, { hint: HELD_INDEX })
      return result.modifiedCount
    },
    heldEndpoints: async () => {
      const found = await deliveries
        .aggregate<{ _id: string }>(
          [{ $match: { status: 'held' } }, { $sort: { endpointId: 1 } }, { $group: { _id: '$endpointId' } }],
          { hint: HELD_INDEX },
        )
        .toArray()
      return found.map((row) => row._id)
    },
  }
}
