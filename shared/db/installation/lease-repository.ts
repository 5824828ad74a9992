import type { Database } from '#shared/db/connection/connect.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import type { LeaseRepository } from '#shared/ports/leases.ts'
import { LEASES } from './lease-model.ts'

/** A command reads the store's clock when it begins; those of one moment may end in another order. */
const ORDER_MS = 60_000

/**
 * True of a lease that has ended by the store's clock, and of one that ends more than a minute later than it could if it began now: that clock went back, or
 * the machine that now has the primary is behind, and a holder that was lost would be waited for as long.
 */
export const isOver = (until: `$${string}`, leaseMs: number) => ({
  $expr: { $or: [{ $lte: [until, '$$NOW'] }, { $gt: [until, { $add: ['$$NOW', leaseMs + ORDER_MS] }] }] },
})

/** Named leases on MongoDB, checked by the store's own clock. */
export function createLeaseRepository(db: Database): LeaseRepository {
  const leases = db.collection(LEASES)
  const take = async (id: string, owner: string, leaseMs: number): Promise<boolean> => {
    const result = await leases.updateOne({ _id: id, $or: [{ owner }, isOver('$until', leaseMs)] }, [
      {
        $set: {
          owner: { $literal: owner },
          until: { $add: ['$$NOW', leaseMs] },
          epoch: { $cond: [{ $eq: ['$owner', { $literal: owner }] }, '$epoch', { $add: ['$epoch', 1] }] },
        },
      },
    ])
    return result.matchedCount === 1
  }
  // An upsert cannot use the store's time, so the very first holder adds an expired lease and takes it.
  const addFirst = async (id: string, owner: string, leaseMs: number): Promise<boolean> => {
    const expired = { _id: id, owner: '', until: new Date(0), epoch: 0 }
    return (await unlessTaken(() => leases.insertOne(expired))) && (await take(id, owner, leaseMs))
  }
  return {
    acquire: async (id, owner, leaseMs) => (await take(id, owner, leaseMs)) || (await addFirst(id, owner, leaseMs)),
    release: async (id, owner) => {
      await leases.updateOne({ _id: id, owner }, { $set: { owner: '', until: new Date(0) } })
    },
  }
}
