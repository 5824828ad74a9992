import type mongoose from 'mongoose'
import { z } from 'zod'
import type { Database } from '#shared/db/connection/connect.ts'
import { toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { INSTALLATION, type InstallationDocument } from '#shared/db/installation/installation-model.ts'
import type { AuditChainRepository, AuditHead, AuditLink, AuditStep, ChainedAudit } from '#shared/ports/audit-chain.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'
import { auditFromDocument } from './audit-repository.ts'
import { auditToDocument } from './audited.ts'

/** Name of the fact that holds the signed end of the chain. */
const HEAD_FACT = 'audit-head'
/** Name of the fact that rows of versions without a chain were added to the chain. */
const ADOPTED_FACT = 'audit-adopted'
/** Name of the fact that holds how far the audit log was verified. */
const VERIFIED_FACT = 'audit-verified'
const WAITING_MAX = 10_000

const CHAINED = { seq: { $exists: true } }
const UNCHAINED = { seq: { $exists: false } }
/** Rows that are neither chained nor wait for it, by their own index: `null` implies its filter, and `$exists` leaves out a stored null. */
const OUTSIDE = { waits: { $ne: true as const }, seq: { $eq: null as never, $exists: false } }
/** Rows not chained yet; exported for the test that explains the query. */
export const WAITING = { waits: true as const, ...UNCHAINED }

/** The same; the time, which every row has, leads to the index where none is named. */
export const ANY_WAITING = { ...WAITING, at: { $gt: new Date(0) } }

/** Thrown inside a transaction to abort it. */
class PlaceTaken extends Error {
  override readonly name = 'PlaceTaken'
}

/** The chained audit log on MongoDB. */
export function createAuditChainRepository(db: Database): AuditChainRepository {
  const rows = db.collection(AUDIT_LOG)
  const facts = db.collection(INSTALLATION)

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
    await facts.updateOne({ _id: HEAD_FACT }, { $set: fact }, { upsert: true, session })
  }

  return {
    tail: async () => {
      const last = await rows.findOne(CHAINED, {
        sort: { seq: -1 },
        projection: { seq: 1, prevHash: 1, hash: 1, keyId: 1, mac: 1 },
      })
      return last === null ? null : linkOf(last)
    },
    isAnyWaiting: () => isAny(db, { of: AUDIT_LOG, filter: ANY_WAITING, hint: 'audit_waiting' }),
    waiting: async (limit) =>
      (await rows.find(WAITING).sort({ at: 1, _id: 1 }).limit(limit).toArray()).map(auditFromDocument),
    adopt: async () => {
      // No version without a chain runs after it.
      if ((await facts.findOne({ _id: ADOPTED_FACT })) !== null) return 0
      const left = { ...OUTSIDE, waits: { $exists: false } }
      const { matchedCount } = await rows.updateMany(left, { $set: { waits: true } }, { hint: 'audit_unchained' })
      const fact = { value: String(matchedCount), changedAt: new Date() }
      await facts.updateOne({ _id: ADOPTED_FACT }, { $set: fact }, { upsert: true })
      return matchedCount
    },
    head: async () => {
      const fact = await facts.findOne({ _id: HEAD_FACT })
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
    ...verification(rows, facts),
    unchained: async () => {
      const [waiting, outside, oldest] = await Promise.all([
        rows.countDocuments(WAITING, { hint: 'audit_waiting' }),
        rows.countDocuments(OUTSIDE, { hint: 'audit_unchained' }),
        rows.findOne(WAITING, { sort: { at: 1, _id: 1 }, projection: { at: 1 } }),
      ])
      return { waiting, outside, oldestWaitingAt: oldest === null ? null : toMs(oldest.at) }
    },
  }
}

/** Reads of verification besides the rows, and the one fact that it writes. */
function verification(
  rows: mongoose.mongo.Collection<AuditDocument>,
  facts: mongoose.mongo.Collection<InstallationDocument>,
): Pick<AuditChainRepository, 'extent' | 'countWaiting' | 'verified' | 'saveVerified'> {
  return {
    extent: async () => {
      const at = async (direction: 1 | -1): Promise<unknown> =>
        (await rows.findOne(CHAINED, { sort: { seq: direction }, projection: { seq: 1 } }))?.seq
      // The index sorts numbers together: if both ends are numbers, all are.
      const [first, last] = await Promise.all([at(1), at(-1)])
      const areNumbers = typeof first === 'number' && typeof last === 'number'
      return { last: typeof last === 'number' ? last : 0, hasOthers: first !== undefined && !areNumbers }
    },
    countWaiting: () => rows.countDocuments({ waits: true }, { hint: 'audit_waiting', limit: WAITING_MAX }),
    verified: async () => {
      const fact = await facts.findOne({ _id: VERIFIED_FACT })
      const parsed = progressSchema.safeParse(fact === null ? null : jsonOf(fact.value))
      return parsed.success ? parsed.data : null
    },
    saveVerified: async ({ text, keyId, mac }) => {
      const fact = { value: JSON.stringify({ text, keyId, mac }), changedAt: new Date() }
      await facts.updateOne({ _id: VERIFIED_FACT }, { $set: fact }, { upsert: true })
    },
  }
}

/** Rows chained after a given one. Without its unique index another row may carry the same number: that one is included too. */
export function chainedFilter(
  after: Parameters<AuditChainRepository['listChained']>[0],
): mongoose.mongo.Filter<AuditDocument> {
  return after === null ? CHAINED : { seq: { $gte: after.seq }, _id: { $ne: after.id } }
}

/** A link without its hashes was tampered with; it is returned as one that matches nothing. */
function linkOf({
  seq = 0,
  prevHash = '',
  hash = '',
  keyId,
  mac,
}: Pick<AuditDocument, 'seq' | 'prevHash' | 'hash' | 'keyId' | 'mac'>): AuditLink {
  return { seq, prevHash, hash, ...(keyId !== undefined && { keyId }), ...(mac !== undefined && { mac }) }
}

const progressSchema = z.object({ text: z.string(), keyId: z.string(), mac: z.string() })
const headSchema = z.object({ seq: z.number(), hash: z.string(), keyId: z.string(), mac: z.string() })

/** A head that cannot be read was tampered with; it is returned as one that matches nothing. */
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
