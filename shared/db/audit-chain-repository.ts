import type mongoose from 'mongoose'
import type { AuditChainRepository, AuditLink, ChainedAudit } from '#shared/usecases/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'
import { auditFromDocument } from './audit-repository.ts'
import type { Database } from './connect.ts'
import { toMs } from './dates.ts'
import { duplicateKeyFields } from './duplicate-key.ts'

const CHAINED = { seq: { $exists: true } }
const UNCHAINED = { seq: { $exists: false } }
/** Rows that wait for their place; exported for the test that explains it. */
export const WAITING = { waits: true as const, ...UNCHAINED }

/** Thrown inside of a transaction so that nothing of it stays. */
class PlaceTaken extends Error {
  override readonly name = 'PlaceTaken'
}

/** The chained audit trail on MongoDB. */
export function createAuditChainRepository(db: Database): AuditChainRepository {
  const rows = db.collection(AUDIT_LOG)

  async function appendAll(
    links: readonly (AuditLink & { readonly id: string })[],
    session: mongoose.mongo.ClientSession,
  ): Promise<void> {
    const operations = links.map(({ id, ...link }) => ({
      updateOne: { filter: { _id: id, ...UNCHAINED }, update: { $set: link, $unset: { waits: '' as const } } },
    }))
    const { matchedCount } = await rows.bulkWrite(operations, { ordered: true, session })
    if (matchedCount !== links.length) throw new PlaceTaken()
  }

  return {
    tail: async () => {
      const last = await rows.findOne(CHAINED, { sort: { seq: -1 }, projection: { seq: 1, prevHash: 1, hash: 1 } })
      return last === null ? null : linkOf(last)
    },
    waiting: async (limit) =>
      (await rows.find(WAITING).sort({ at: 1, _id: 1 }).limit(limit).toArray()).map(auditFromDocument),
    adopt: async () =>
      (await rows.updateMany({ ...UNCHAINED, waits: { $exists: false } }, { $set: { waits: true } })).matchedCount,
    append: async (links) => {
      const session = db.connection.getClient().startSession()
      try {
        await session.withTransaction(() => appendAll(links, session))
        return true
      } catch (error) {
        if (error instanceof PlaceTaken || duplicateKeyFields(error) !== null) return false
        throw error
      } finally {
        await session.endSession()
      }
    },
    listChained: async (after, limit) => {
      const found = await rows.find(chainedFilter(after)).sort({ seq: 1 }).limit(limit).toArray()
      return found.map((stored): ChainedAudit => ({ ...linkOf(stored), record: auditFromDocument(stored) }))
    },
    countChained: () => rows.countDocuments(CHAINED),
    unchained: async () => {
      const [waiting, outside, oldest] = await Promise.all([
        rows.countDocuments(WAITING),
        rows.countDocuments({ waits: { $ne: true }, ...UNCHAINED }),
        rows.findOne(WAITING, { sort: { at: 1, _id: 1 }, projection: { at: 1 } }),
      ])
      return { waiting, outside, oldestWaitingAt: oldest === null ? null : toMs(oldest.at) }
    },
  }
}

/** Chained rows behind one. Without its index another row may carry the same number: that one is not passed over either. */
export function chainedFilter(
  after: Parameters<AuditChainRepository['listChained']>[0],
): mongoose.mongo.Filter<AuditDocument> {
  return after === null ? CHAINED : { seq: { $gte: after.seq }, _id: { $ne: after.id } }
}

/** A link without its hashes was tampered with; it is shown as one that fits nowhere. */
function linkOf({ seq = 0, prevHash = '', hash = '' }: Pick<AuditDocument, 'seq' | 'prevHash' | 'hash'>): AuditLink {
  return { seq, prevHash, hash }
}
