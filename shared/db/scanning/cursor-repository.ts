import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import { isOver } from '#shared/db/installation/lease-repository.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ChainCursor, DeadlineRelease } from '#shared/ports/cursors.ts'
import { CHAIN_CURSORS, cursorFromDocument, cursorToDocument } from './cursor-model.ts'

const idOf = (mode: Mode, network: NetworkId): string => `${mode}:${network}`

/** Chain cursors on MongoDB. Leases use the store's clock; the epoch increases with each new holder and never decreases. */
export function createCursorRepository(db: Database) {
  const cursors = db.collection(CHAIN_CURSORS)
  const find = async (mode: Mode, network: NetworkId): Promise<ChainCursor | null> => {
    const stored = await cursors.findOne({ _id: idOf(mode, network) })
    return stored === null ? null : cursorFromDocument(stored)
  }
  return {
    find,
    list: async (): Promise<readonly ChainCursor[]> =>
      (await cursors.find().sort({ _id: 1 }).toArray()).map(cursorFromDocument),
    /** Creates the cursor when there is none; returns the stored one. */
    create: async (cursor: ChainCursor): Promise<ChainCursor> => {
      if (await unlessTaken(() => cursors.insertOne(cursorToDocument(cursor)))) return cursor
      const stored = await cursors.findOne({ _id: cursor.id }, NEWEST)
      if (stored === null) throw new Error(`cursor ${cursor.id} exists but cannot be read`)
      return cursorFromDocument(stored)
    },
    /** Takes the lease when it is free, expired or ours; each new holder gets a higher epoch. Null when another holds it. */
    acquireLease: async (
      mode: Mode,
      network: NetworkId,
      owner: string,
      leaseMs: number,
    ): Promise<{ epoch: number } | null> => {
      const held = await cursors.findOneAndUpdate(
        {
          _id: idOf(mode, network),
          $or: [{ lease: null }, { 'lease.owner': owner }, isOver('$lease.until', leaseMs)],
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
    releaseLease: async (mode: Mode, network: NetworkId, owner: string): Promise<void> => {
      await cursors.updateOne({ _id: idOf(mode, network), 'lease.owner': owner }, { $set: { lease: null } })
    },
    /** Compare-and-set on (hash, lease epoch); false = fenced or moved: stop and reload. */
    advance: async (
      mode: Mode,
      network: NetworkId,
      expected: { hash: string; epoch: number },
      next: Partial<Omit<ChainCursor, 'id' | 'mode' | 'network' | 'lease' | 'released'>>,
    ): Promise<boolean> => {
      const result = await cursors.updateOne(
        { _id: idOf(mode, network), hash: expected.hash, leaseEpoch: expected.epoch },
        { $set: CHAIN_CURSORS.toFields(next) },
      )
      return result.matchedCount === 1
    },
    /**
     * Stores a release and its audit row in one transaction. False, with nothing written, when the cursor is not at
     * `release.hash` any more or the same or a later moment was released for it already.
     */
    releaseDeadlines: (
      mode: Mode,
      network: NetworkId,
      release: DeadlineRelease,
      audit: AuditRecord,
    ): Promise<boolean> =>
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
    /**
     * Lets deadlines of skipped blocks take effect: up to `since` of what is left of them, or all of them when nothing is left. Together with its
     * audit row; false when the blocks were released or others skipped meanwhile.
     */
    releaseSkipped: (
      mode: Mode,
      network: NetworkId,
      { release, from, left }: SkippedRelease,
      audit: AuditRecord,
    ): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const result = await cursors.updateOne(
          { _id: idOf(mode, network), 'skipped.at': toDate(from.at), 'skipped.since': toDate(from.since) },
          { $set: CHAIN_CURSORS.toFields({ released: { ...release, hash: '' }, skipped: left }) },
          { session },
        )
        return result.matchedCount === 1
      }),
  }
}

/** A release of the skipped blocks `from`, of which `left` still hold deadlines back. */
interface SkippedRelease {
  readonly release: Omit<DeadlineRelease, 'hash'>
  readonly from: NonNullable<ChainCursor['skipped']>
  readonly left: ChainCursor['skipped'] & (object | null)
}

/** The type of what {@link createCursorRepository} returns. */
export type CursorRepository = ReturnType<typeof createCursorRepository>
