import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Database } from './connect.ts'
import { duplicateKeyFields } from './duplicate-key.ts'
import { LEASES } from './lease-model.ts'

/** Named leases on MongoDB, judged by the store's own clock. */
export function createLeaseRepository(db: Database): LeaseRepository {
  const leases = db.collection(LEASES)
  return {
    acquire: async (id, owner, leaseMs) => {
      try {
        const held = await leases.findOneAndUpdate(
          { _id: id, $or: [{ owner }, { $expr: { $lte: ['$until', '$$NOW'] } }] },
          [
            {
              $set: {
                owner: { $literal: owner },
                until: { $add: ['$$NOW', leaseMs] },
                epoch: {
                  $cond: [
                    { $eq: ['$owner', { $literal: owner }] },
                    '$epoch',
                    { $add: [{ $ifNull: ['$epoch', 0] }, 1] },
                  ],
                },
              },
            },
          ],
          { upsert: true, returnDocument: 'after', projection: { _id: 1 } },
        )
        return held !== null
      } catch (error) {
        // The upsert collides with the living lease of another owner.
        if (duplicateKeyFields(error) === null) throw error
        return false
      }
    },
    release: async (id, owner) => {
      await leases.updateOne({ _id: id, owner }, { $set: { owner: '', until: new Date(0) } })
    },
  }
}
