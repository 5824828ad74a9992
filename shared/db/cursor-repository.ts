import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ChainCursor, CursorRepository } from '#shared/usecases/ports/scanning.ts'
import type { Database } from './connect.ts'
import { CHAIN_CURSORS, type CursorDocument } from './cursor-model.ts'
import { toDate, toMs } from './dates.ts'
import { duplicateKeyFields } from './duplicate-key.ts'
import { readBack } from './read-back.ts'

const idOf = (mode: Mode, network: NetworkId): string => `${mode}:${network}`

/** Chain cursors on MongoDB. Leases run on the store's clock; the epoch rises with each new holder and never falls. */
export function createCursorRepository(db: Database): CursorRepository {
  const cursors = db.collection(CHAIN_CURSORS)
  const find = async (mode: Mode, network: NetworkId): Promise<ChainCursor | null> => {
    const stored = await cursors.findOne({ _id: idOf(mode, network) })
    return stored === null ? null : fromDocument(stored)
  }
  return {
    find,
    list: async () => (await cursors.find().sort({ _id: 1 }).toArray()).map(fromDocument),
    create: async (cursor) => {
      try {
        await cursors.insertOne(toDocument(cursor))
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
        { $set: changeToDocument(next) },
      )
      return result.matchedCount === 1
    },
  }
}

type CursorChange = Parameters<CursorRepository['advance']>[3]

function changeToDocument(next: CursorChange) {
  const { time, headSeenAt, mempoolAt, window, ...same } = next
  return {
    ...same,
    ...(time !== undefined && { time: toDate(time) }),
    ...(headSeenAt !== undefined && { headSeenAt: toDate(headSeenAt) }),
    ...(mempoolAt !== undefined && { mempoolAt: toDate(mempoolAt) }),
    ...(window !== undefined && { window: copyWindow(window) }),
  }
}

const copyWindow = (window: ChainCursor['window']): CursorDocument['window'] =>
  window.map(([height, hash]) => [height, hash])

function toDocument(cursor: ChainCursor): CursorDocument {
  const { id, time, headSeenAt, mempoolAt, lease, window, ...same } = cursor
  return {
    _id: id,
    ...same,
    time: toDate(time),
    headSeenAt: toDate(headSeenAt),
    ...(mempoolAt !== undefined && { mempoolAt: toDate(mempoolAt) }),
    window: copyWindow(window),
    lease: lease === null ? null : { owner: lease.owner, until: toDate(lease.until) },
    leaseEpoch: lease?.epoch ?? 0,
  }
}

function fromDocument(stored: CursorDocument): ChainCursor {
  const { _id, time, headSeenAt, mempoolAt, lease, leaseEpoch, ...same } = stored
  return {
    id: _id,
    ...same,
    time: toMs(time),
    headSeenAt: toMs(headSeenAt),
    ...(mempoolAt !== undefined && { mempoolAt: toMs(mempoolAt) }),
    lease: lease === null ? null : { owner: lease.owner, epoch: leaseEpoch, until: toMs(lease.until) },
  }
}
