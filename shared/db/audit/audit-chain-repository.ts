import type mongoose from 'mongoose'
import { z } from 'zod'
import type { Database } from '#shared/db/connection/connect.ts'
import { toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { AuditChainRepository, AuditHead, AuditLink, AuditStep, ChainedAudit } from '#shared/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'
import { auditFromDocument } from './audit-repository.ts'
import { auditToDocument } from './audited.ts'

/** Name of the fact that holds the signed end of the chain. */
const HEAD_FACT = 'audit-head'

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
    { checkpoint, links, head }: AuditStep,
    session: mongoose.mongo.ClientSession,
  ): Promise<void> {
    if (checkpoint !== null) await rows.insertOne(auditToDocument(checkpoint), { session })
    const operations = links.map(({ id, ...link }) => ({
      updateOne: { filter: { _id: id, ...UNCHAINED }, update: { $set: link, $unset: { waits: '' as const } } },
    }))
    const { matchedCount } = await rows.bulkWrite(operations, { ordered: true, session })
    if (matchedCount !== links.length) throw new PlaceTaken()
    const fact = { value: JSON.stringify(head), changedAt: new Date() }
    await db.collection(INSTALLATION).updateOne({ _id: HEAD_FACT }, { $set: fact }, { upsert: true, session })
  }

  return {
    tail: async () => {
      const last = await rows.findOne(CHAINED, {
        sort: { seq: -1 },
        projection: { seq: 1, prevHash: 1, hash: 1, keyId: 1, mac: 1 },
      })
      return last === null ? null : linkOf(last)
    },
    waiting: async (limit) =>
      (await rows.find(WAITING).sort({ at: 1, _id: 1 }).limit(limit).toArray()).map(auditFromDocument),
    adopt: async () =>
      (await rows.updateMany({ ...UNCHAINED, waits: { $exists: false } }, { $set: { waits: true } })).matchedCount,
    head: async () => {
      const fact = await db.collection(INSTALLATION).findOne({ _id: HEAD_FACT })
      return fact === null ? null : headOf(fact.value)
    },
    hasKeyed: async () => (await rows.findOne({ mac: { $exists: true } }, { projection: { _id: 1 } })) !== null,
    append: async (step) => {
      const session = db.connection.getClient().startSession()
      try {
        await session.withTransaction(() => appendAll(step, session))
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
function linkOf({
  seq = 0,
  prevHash = '',
  hash = '',
  keyId,
  mac,
}: Pick<AuditDocument, 'seq' | 'prevHash' | 'hash' | 'keyId' | 'mac'>): AuditLink {
  return { seq, prevHash, hash, ...(keyId !== undefined && { keyId }), ...(mac !== undefined && { mac }) }
}

const headSchema = z.object({ seq: z.number(), hash: z.string(), keyId: z.string(), mac: z.string() })

/** A head that cannot be read was tampered with; it is shown as one that nothing fits. */
function headOf(value: string): AuditHead {
  const parsed = headSchema.safeParse(jsonOf(value))
  return parsed.success ? parsed.data : { seq: -1, hash: '', keyId: '', mac: '' }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
