import type mongoose from 'mongoose'
import type { DeliveryRepository } from '#shared/usecases/ports/events.ts'
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
      const tokens = leaseToken === null ? [null] : [null, leaseToken]
      const pending = { status: 'pending' as const, endpointId, leaseToken: { $in: tokens } }
      await deliveries.updateMany(pending, { $set: { status: 'held', leaseToken: null } }, { hint: DUE_INDEX })
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
