import type mongoose from 'mongoose'
import { z } from 'zod'
import { parseJson } from '#shared/contracts/parse-json.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { INSTALLATION, type InstallationDocument } from '#shared/db/installation/installation-model.ts'
import type {
  AuditExtent,
  AuditHead,
  AuditLink,
  AuditStep,
  BreaksChange,
  ChainedAudit,
  SignedText,
  StoredBreaks,
  StoredHead,
  UnchainedAudits,
} from '#shared/ports/audit-chain.ts'
import { AUDIT_LOG, type AuditDocument, type AuditRecord } from './audit-model.ts'
import { auditToDocument } from './audited.ts'

/** Name of the fact that holds the signed end of the chain. */
const HEAD_FACT = 'audit-head'
/** Name of the fact that holds the noticed breaks and their answers. */
const BREAKS_FACT = 'audit-breaks'
/** Name of the fact that holds how far the audit log was verified. */
const VERIFIED_FACT = 'audit-verified'
const COUNTED_MAX = 10_000

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
export function createAuditChainRepository(db: Database) {
  const rows = db.collection(AUDIT_LOG)
  const facts = db.collection(INSTALLATION)

  async function appendAll(
    { checkpoint, links, head, was, breaks }: AuditStep,
    session: mongoose.mongo.ClientSession,
  ): Promise<void> {
    if (checkpoint !== null) await rows.insertOne(auditToDocument(checkpoint), { session })
    const operations = links.map(({ id, ...link }) => ({
      updateOne: { filter: { _id: id, ...UNCHAINED }, update: { $set: link, $unset: { waits: '' as const } } },
    }))
    const { matchedCount } = await rows.bulkWrite(operations, { ordered: true, session })
    if (matchedCount !== links.length) throw new PlaceTaken()
    await replaceFact(facts, { _id: HEAD_FACT, was, value: JSON.stringify(head) }, session)
    if (breaks !== undefined) await replaceFact(facts, breaksFact(breaks), session)
  }

  return {
    /** The last link; null before the first. */
    tail: async (): Promise<AuditLink | null> => {
      const last = await rows.findOne(CHAINED, {
        sort: { seq: -1 },
        projection: { seq: 1, prevHash: 1, hash: 1, keyId: 1, mac: 1 },
      })
      return last === null ? null : linkOf(last)
    },
    /** Whether a row is not chained yet. */
    isAnyWaiting: (): Promise<boolean> => isAny(db, { of: AUDIT_LOG, filter: ANY_WAITING, hint: 'audit_waiting' }),
    /** Rows not chained yet, oldest first. */
    waiting: async (limit: number): Promise<readonly AuditRecord[]> =>
      (await rows.find(WAITING).sort({ at: 1, _id: 1 }).limit(limit).toArray()).map(AUDIT_LOG.toRecord),
    /** A row that is not chained yet; null when it is, or when there is none. */
    findWaiting: async (id: string): Promise<AuditRecord | null> =>
      AUDIT_LOG.toRecord(await rows.findOne({ _id: id, ...UNCHAINED })),
    /** The signed end; null before the first one, or when it was removed. */
    head: async (): Promise<StoredHead | null> => {
      const fact = await facts.findOne({ _id: HEAD_FACT })
      return fact === null ? null : { ...headOf(fact.value), text: fact.value }
    },
    /** Chains rows and moves the head, all or none: false when a number is taken, a row is already chained or gone, or the end is not `was`. */
    append: (step: AuditStep): Promise<boolean> =>
      unlessTaken(() => db.inTransaction((session) => appendAll(step, session))),
    /** Chained rows after `after`, in the order of their numbers; another row with the same number comes first, if there is one. */
    listChained: async (
      after: { readonly seq: number; readonly id: string } | null,
      limit: number,
    ): Promise<readonly ChainedAudit[]> => {
      const found = await rows.find(chainedFilter(after)).sort({ seq: 1 }).limit(limit).toArray()
      return found.map((stored): ChainedAudit => ({ ...linkOf(stored), record: AUDIT_LOG.toRecord(stored) }))
    },
    ...verification(rows, facts),
    /** Rows that are not chained, by their own index. */
    unchained: async (): Promise<UnchainedAudits> => {
      const [waiting, outside, oldest] = await Promise.all([
        rows.countDocuments(WAITING, { hint: 'audit_waiting', limit: COUNTED_MAX }),
        rows.countDocuments(OUTSIDE, { hint: 'audit_unchained', limit: COUNTED_MAX }),
        rows.findOne(WAITING, { sort: { at: 1, _id: 1 }, projection: { at: 1 } }),
      ])
      return { waiting, outside, oldestWaitingAt: oldest === null ? null : toMs(oldest.at) }
    },
  }
}

/** The type of what {@link createAuditChainRepository} returns. */
export type AuditChainRepository = ReturnType<typeof createAuditChainRepository>

/** Reads of verification besides the rows, and the facts that it writes. */
function verification(
  rows: mongoose.mongo.Collection<AuditDocument>,
  facts: mongoose.mongo.Collection<InstallationDocument>,
) {
  return {
    /** Numbers of chained rows. Reads two entries of the index. */
    extent: async (): Promise<AuditExtent> => {
      const at = async (direction: 1 | -1): Promise<unknown> =>
        (await rows.findOne(CHAINED, { sort: { seq: direction }, projection: { seq: 1 } }))?.seq
      // The index sorts numbers together: if both ends are numbers, all are.
      const [first, last] = await Promise.all([at(1), at(-1)])
      const areNumbers = typeof first === 'number' && typeof last === 'number'
      return { last: typeof last === 'number' ? last : 0, hasOthers: first !== undefined && !areNumbers }
    },
    /** The value last stored by `saveVerified`; null before, and when the stored value has another form. */
    verified: async (): Promise<SignedText | null> => {
      const fact = await facts.findOne({ _id: VERIFIED_FACT })
      const parsed = signedSchema.safeParse(fact === null ? null : parseJson(fact.value))
      return parsed.success ? parsed.data : null
    },
    /** Stores how far the log was verified. */
    saveVerified: async ({ text, keyId, mac }: SignedText): Promise<void> => {
      const fact = { value: JSON.stringify({ text, keyId, mac }), changedAt: new Date() }
      await facts.updateOne({ _id: VERIFIED_FACT }, { $set: fact }, { upsert: true })
    },
    /** The record of breaks; null before the first one, or when it was removed. */
    breaks: async (): Promise<StoredBreaks | null> => {
      const fact = await facts.findOne({ _id: BREAKS_FACT })
      if (fact === null) return null
      const parsed = signedSchema.safeParse(parseJson(fact.value))
      return { ...(parsed.success ? parsed.data : { text: '', keyId: '', mac: '' }), value: fact.value }
    },
    /** Replaces the record of breaks; false when it is not `was` any more. */
    saveBreaks: (change: BreaksChange): Promise<boolean> => unlessTaken(() => replaceFact(facts, breaksFact(change))),
  }
}

const breaksFact = ({ was, next: { text, keyId, mac } }: BreaksChange) => ({
  ...{ _id: BREAKS_FACT, was, value: JSON.stringify({ text, keyId, mac }) },
})

/** Stores a fact in the place of the value `was`, or as a new one; throws where another value stands there by now. */
async function replaceFact(
  facts: mongoose.mongo.Collection<InstallationDocument>,
  { _id, was, value }: { readonly _id: string; readonly was: string | null; readonly value: string },
  session?: mongoose.mongo.ClientSession,
): Promise<void> {
  const options = session === undefined ? {} : { session }
  const fact = { value, changedAt: new Date() }
  if (was === null) await facts.insertOne({ _id, ...fact }, options)
  else if ((await facts.updateOne({ _id, value: was }, { $set: fact }, options)).matchedCount === 0) {
    throw new PlaceTaken()
  }
}

/** Whether a write took its place; false when another writer was faster. */
async function unlessTaken(write: () => Promise<void>): Promise<boolean> {
  try {
    await write()
    return true
  } catch (error) {
    if (error instanceof PlaceTaken || duplicateKeyFields(error) !== null) return false
    throw error
  }
}

/** Rows chained after a given one. Without its unique index another row may carry the same number: that one is included too. */
export function chainedFilter(
  after: Parameters<AuditChainRepository['listChained']>[0],
): mongoose.mongo.Filter<AuditDocument> {
  return after === null ? CHAINED : { seq: { $gte: after.seq }, _id: { $ne: after.id } }
}

/** A link without its hashes or its signature was tampered with; it is returned as one that matches nothing. */
function linkOf({
  seq = 0,
  prevHash = '',
  hash = '',
  keyId = '',
  mac = '',
}: Pick<AuditDocument, 'seq' | 'prevHash' | 'hash' | 'keyId' | 'mac'>): AuditLink {
  return { seq, prevHash, hash, keyId, mac }
}

const signedSchema = z.object({ text: z.string(), keyId: z.string(), mac: z.string() })
const headSchema = z.object({ seq: z.number(), hash: z.string(), keyId: z.string(), mac: z.string() })

/** A head that cannot be read was tampered with; it is returned as one that matches nothing. */
function headOf(value: string): AuditHead {
  const parsed = headSchema.safeParse(parseJson(value))
  return parsed.success ? parsed.data : { seq: -1, hash: '', keyId: '', mac: '' }
}
