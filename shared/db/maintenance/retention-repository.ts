import type mongoose from 'mongoose'
import { classOf } from '#shared/db/connection/collection-class.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { ID_TIME_SLACK_MS, uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { ATTEMPT_DAYS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { readFact, writeFact } from '#shared/db/installation/facts.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RetentionRule } from '#shared/ports/retention.ts'

const DAY_MS = 86_400_000

interface Row {
  _id: string
  [field: string]: unknown
}

interface StoredRule extends RetentionRule {
  readonly field: string
  readonly model: CollectionModel<Row>
}

/** Attempts in deliveries, whose rows are kept far longer. */
const ATTEMPTS: StoredRule = {
  collection: 'webhook_deliveries.attempts',
  model: WEBHOOK_DELIVERIES as unknown as CollectionModel<Row>,
  field: 'attemptsFrom',
  lifeMs: ATTEMPT_DAYS * DAY_MS,
  by: 'job',
  waitsForScanners: false,
  countsFromScanners: false,
}

/** Expiry on MongoDB, as defined by the classes of the collections. */
export function createRetentionRepository(db: Database) {
  const known = new Map([...MODELS.flatMap(ruleOf), ATTEMPTS].map((rule) => [rule.collection, rule] as const))
  const required = (name: string): StoredRule => {
    const rule = known.get(name)
    if (rule === undefined) throw new Error(`documents of ${name} are kept forever`)
    return rule
  }
  return {
    rules: [...known.values()],
    /** Time of the oldest document with a started lifetime; null when there is none. */
    oldest: async (name: string): Promise<Ms | null> => {
      const { model, field } = required(name)
      // Times only: a document whose lifetime has not begun has none.
      const begun: mongoose.mongo.Filter<Row> = { [field]: { $gt: new Date(0) } }
      const found = await db
        .collection(model)
        .find(begun, { projection: { [field]: 1 } })
        .sort({ [field]: 1 })
        .limit(1)
        .next()
      const at = found?.[field]
      return at instanceof Date ? toMs(at) : null
    },
    /**
     * Removes up to `limit` documents from before a time, the oldest first; returns how many. Attempts in deliveries are removed from up to
     * `limit` of these. Only for rules with `job`. Safe to repeat and to be killed anywhere.
     */
    remove: async (name: string, before: Ms, limit: number): Promise<number> => {
      const { model, field, by } = required(name)
      if (by !== 'job') throw new Error(`documents of ${name} are removed by the store`)
      if (name === ATTEMPTS.collection) return await removeOldAttempts(db, before, limit)
      const past: mongoose.mongo.Filter<Row> = { [field]: { $lt: toDate(before) } }
      const found = await db
        .collection(model)
        .find(past, { projection: { _id: 1 } })
        .sort({ [field]: 1 })
        .limit(limit)
        .toArray()
      if (found.length === 0) return 0
      const ids: mongoose.mongo.Filter<Row> = { _id: { $in: found.map(({ _id }) => _id) } }
      return (await db.collection(model).deleteMany(ids)).deletedCount
    },
    /**
     * Removes idempotency guards that are older than `before` from up to `limit` invoices, and goes on behind them the next time. Returns
     * how many invoices it read; fewer than `limit` when none is left. Safe to repeat and to be killed anywhere.
     */
    removeEndedGuards: (before: Ms, limit: number): Promise<number> => removeEndedIdempotency(db, before, limit),
    /** Block time up to which every scanner has scanned, and has looked at all addresses; null when there is no scanner. */
    scannedThrough: async (): Promise<Ms | null> => {
      const cursors = await db.collection(CHAIN_CURSORS).find().toArray()
      // Balances of cold addresses are looked at once a month.
      const times = cursors.flatMap(({ time, looks }) => [toMs(time), ...(looks ? [toMs(looks.month.time)] : [])])
      return times.length === 0 ? null : Math.min(...times)
    },
  }
}

function ruleOf(model: CollectionModel<mongoose.mongo.Document>): StoredRule[] {
  const { life } = classOf(model.name)
  const same = { collection: model.name, model: model as CollectionModel<Row> }
  if (life.kept === 'job')
    return [
      {
        ...{ ...same, field: life.field, lifeMs: life.days * DAY_MS, by: 'job' },
        waitsForScanners: life.countedFrom === undefined,
        countsFromScanners: life.countedFrom === 'scanners',
      },
    ]
  if (life.kept === 'forever') return []
  const index = model.indexes.find(({ name }) => name === life.index)
  const [field] = Object.keys(index?.key ?? {})
  if (field === undefined || index?.expireAfterSeconds === undefined)
    throw new Error(`${model.name} has no index ${life.index}`)
  const waits = { waitsForScanners: false, countsFromScanners: false }
  return [{ ...same, field, lifeMs: index.expireAfterSeconds * 1_000, by: 'store', ...waits }]
}

/**
 * Removes attempts that began before a time from up to `limit` deliveries, those with the oldest attempts first, and returns from how many. The
 * index holds only deliveries that have attempts, by the oldest: nothing else is read. Status and due time are left alone, so it may run
 * beside a process that records an outcome of the same delivery.
 */
export async function removeOldAttempts(db: Database, before: Ms, limit: number): Promise<number> {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const old = { attemptsFrom: { $lt: toDate(before) } }
  const found = await deliveries
    .find(old, { projection: { _id: 1 }, hint: 'delivery_attempts' })
    .sort({ attemptsFrom: 1 })
    .limit(limit)
    .toArray()
  if (found.length === 0) return 0
  const kept = {
    $filter: { input: { $ifNull: ['$attempts', []] }, cond: { $gte: ['$$this.at', toDate(before)] } },
  }
  const present = { $cond: [{ $eq: ['$attempts', []] }, '$$REMOVE', '$attempts'] }
  const from = { $cond: [{ $eq: ['$attempts', []] }, '$$REMOVE', { $min: '$attempts.at' }] }
  const ids = { _id: { $in: found.map(({ _id }) => _id) } }
  await deliveries.updateMany(ids, [{ $set: { attempts: kept } }, { $set: { attempts: present, attemptsFrom: from } }])
  return found.length
}

/** Name of the fact that holds up to which invoice, in the order of ids, keys that ended were removed. */
const THROUGH_FACT = 'idempotency-removed-through'

/**
 * Removes the idempotency guards of the next `limit` invoices, in the order of their ids, that were made before `before`. The place is
 * stored after the removal: a process that dies in between removes the same again, which changes nothing. Touches neither version nor
 * `updatedAt`: what the guard answered ends by its own time, and the invoice stays as it is. Returns how many invoices it read.
 */
export async function removeEndedIdempotency(db: Database, before: Ms, limit: number): Promise<number> {
  const invoices = db.collection(INVOICES)
  const through = (await readFact(db, THROUGH_FACT)) ?? ''
  // An id may carry another time than its guard: no invoice is passed whose guard still stands.
  const end = uuidLowerBound(before - ID_TIME_SLACK_MS)
  const found = await invoices
    .find({ _id: { $gt: through, $lt: end } }, { projection: { 'idem.at': 1 } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray()
  const standing = found.findIndex(({ idem }) => idem !== undefined && toMs(idem.at) >= before)
  const page = standing < 0 ? found : found.slice(0, standing)
  const last = page.at(-1)
  if (last === undefined) return 0
  const guarded = page.flatMap(({ _id, idem }) => (idem === undefined ? [] : [_id]))
  if (guarded.length > 0) {
    const ended = { _id: { $in: guarded }, 'idem.at': { $lt: toDate(before) } }
    await invoices.updateMany(ended, { $unset: { idem: '' } })
  }
  await writeFact(db, THROUGH_FACT, last._id)
  return page.length
}
