import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { readBack } from '#shared/db/connection/read-back.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ChainCursor, CursorRepository } from '#shared/ports/cursors.ts'
import { CHAIN_CURSORS, cursorFromDocument, cursorToDocument } from './cursor-model.ts'

const idOf = (mode: Mode, network: NetworkId): string => `${mode}:${network}`

/** Chain cursors on MongoDB. Leases use the store's clock; the epoch increases with each new holder and never decreases. */
export function createCursorRepository(db: Database): CursorRepository {
  const cursors = db.collection(CHAIN_CURSORS)
  const find = async (mode: Mode, network: NetworkId): Promise<ChainCursor | null> => {
    const stored = await cursors.findOne({ _id: idOf(mode, network) })
    return stored === null ? null : cursorFromDocument(stored)
  }
  return {
    find,
    list: async () => (await cursors.find().sort({ _id: 1 }).toArray()).map(cursorFromDocument),
    create: async (cursor) => {
      try {
        await cursors.insertOne(cursorToDocument(cursor))
        return cursor
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        const stored = await readBack(() => find(cursor.mode, cursor.network))
        if (stored === null) throw new Error(`cursor ${cursor.id} exists but cannot be read`, { cause: error })
        return stored
      }
    },
    acquireLease: async (mode, network, owner, leaseMs) => {
      const held = await cursors.findOneAndUpdate(
        {
          _id: idOf(mode, network),
          $or: [{ lease: null }, { 'lease.owner': owner }, { $expr: { $lte: ['$lease.until', '$$NOW'] } }],
        },
        [
          {
            $set: {
              lease: { owner: { $literal: owner }, until: { $add: ['$$NOW', leaseMs] } },
              leaseEpoch: {
                $cond: [{ $eq: ['$lease.owner', { $literal: owner }] }, '$leaseEpoch', { $add: ['$leaseEpoch', 1] }],
              },
            },
          },
        ],
        { returnDocument: 'after', projection: { leaseEpoch: 1 } },
      )
      return held === null ? null : { epoch: held.leaseEpoch }
    },
    releaseLease: async (mode, network, owner) => {
      await cursors.updateOne({ _id: idOf(mode, network), 'lease.owner': owner }, { $set: { lease: null } })
    },
    advance: async (mode, network, expected, next) => {
      const result = await cursors.updateOne(
        { _id: idOf(mode, network), hash: expected.hash, leaseEpoch: expected.epoch },
        { $set: CHAIN_CURSORS.toFields(next) },
      )
      return result.matchedCount === 1
    },
    releaseDeadlines: (mode, network, release, audit) =>
      audited(db, audit, async (session) => {
        const { hash, through } = release
        const result = await cursors.updateOne(
          {
            _id: idOf(mode, network),
            hash,
            $or: [{ 'released.hash': { $ne: hash } }, { 'released.through': { $lt: toDate(through) } }],
          },
          { $set: CHAIN_CURSORS.toFields({ released: release }) },
          { session },
        )
        return result.matchedCount === 1
      }),
  }
}
