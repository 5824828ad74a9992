import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { ID_TIME_SLACK_MS, uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { INVOICE_COUNTS, type InvoiceCountDocument } from './invoice-count-model.ts'
import { INVOICES, type InvoiceDocument } from './invoice-model.ts'

/** Invoices of one calendar month (UTC), by the time in their ids. */
interface MonthCount {
  readonly all: number
  /** Of them, those created by visitors of payment links. */
  readonly byLinks: number
}

/** The month that contains a time, of one workspace and mode. */
interface MonthScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly at: Ms
}

/** A stored count that a repair found wrong. */
interface CountRepair {
  readonly workspaceId: string
  readonly mode: Mode
  /** `2026-11` */
  readonly month: string
  readonly stored: number
  readonly right: number
}

type Invoices = mongoose.mongo.Collection<InvoiceDocument>
type StoredCount = Pick<InvoiceCountDocument, 'through' | 'all' | 'byLinks'>

/** Invoices after the stored count beyond which the count is advanced. */
const BEHIND_MAX = 200
/** A create that takes longer than this from its id to its insert is missed by the stored count until it is repaired. */
const SETTLED_AFTER_MS = 120_000
/** How long a count is used at most. */
const CACHED_MAX_MS = 30_000
/** With fewer invoices left, each request reads. With more, a count is used for as many milliseconds as invoices are left. */
const LEFT_MIN = 1_000
const CACHE_MAX = 10_000

interface CachedCount extends MonthCount {
  readonly month: string
  readonly at: Ms
  /** Requests since then: each may have become an invoice. */
  requests: number
}

/**
 * Counts on MongoDB: a stored count up to an id, and the invoices after that id. Only a compare-and-set on that id advances the stored
 * count, so that of many processes one adds the same invoices, and a crash between reading and writing adds none. A
 * create writes nothing for it.
 */
export function createInvoiceCounts(db: Database) {
  const invoices = db.collection(INVOICES)
  const counts = db.collection(INVOICE_COUNTS)
  const cache = new Map<string, CachedCount>()
  const running = new Map<string, Promise<MonthCount>>()

  /** The last count of this process, and this question, while it may be used. */
  const cached = ({ at, ...scope }: MonthScope, limit: number): MonthCount | null => {
    const known = cache.get(keyOf(scope))
    if (known === undefined || known.month !== monthOf(at) || !isFresh(known, at, limit)) return null
    known.requests += 1
    return { all: known.all + known.requests, byLinks: known.byLinks + known.requests }
  }
  const read = async (scope: MonthScope): Promise<MonthCount> => {
    const count = await countMonth(counts, invoices, scope)
    if (cache.size >= CACHE_MAX) cache.clear()
    cache.set(keyOf(scope), { ...count, month: monthOf(scope.at), at: scope.at, requests: 0 })
    return count
  }

  return {
    /**
     * Invoices of the month so far. While more than 1,000 are left below `limit` the result may be as many milliseconds old as are left, 30 s at
     * most, with every request of this process since then counted as an invoice, and requests that come together share one
     * reading; closer to it, it is read for each request.
     */
    inMonth: async (scope: MonthScope, limit: number): Promise<MonthCount> => {
      const known = cached(scope, limit)
      if (known !== null) return known
      const key = keyOf(scope)
      const before = running.get(key)
      // Requests that find the count out of date together use one new count, unless few invoices are left.
      if (before !== undefined && limit - (cache.get(key)?.all ?? 0) > LEFT_MIN) {
        await before.catch(() => undefined)
        const shared = cached(scope, limit)
        if (shared !== null) return shared
      }
      const mine = read(scope)
      running.set(key, mine)
      try {
        return await mine
      } finally {
        if (running.get(key) === mine) running.delete(key)
      }
    },
    /**
     * Compares the stored counts of running months with the invoices since the last comparison and corrects them: an
     * invoice may be stored minutes after its id was made. Safe to run in several processes at once and to be killed anywhere.
     */
    repair: (at: Ms): Promise<readonly CountRepair[]> => repair(counts, invoices, at),
  }
}

/** Other processes together would have to create a thousand invoices a second in one workspace to pass the limit meanwhile. */
function isFresh(known: CachedCount, at: Ms, limit: number): boolean {
  const left = limit - known.all - known.requests
  return left > LEFT_MIN && at >= known.at && at - known.at < Math.min(left, CACHED_MAX_MS)
}

async function countMonth(
  counts: mongoose.mongo.Collection<InvoiceCountDocument>,
  invoices: Invoices,
  scope: MonthScope,
): Promise<MonthCount> {
  const _id = idOf(scope)
  const { startsAt, endsAt } = boundsOf(scope.at)
  const stored = await counts.findOne({ _id })
  const from: StoredCount = stored ?? { through: uuidLowerBound(startsAt), all: 0, byLinks: 0 }
  const behind = await countBetween(invoices, scope, from.through, uuidLowerBound(endsAt))
  if (behind.all > BEHIND_MAX) await moveOn(counts, invoices, scope, { from, isNew: stored === null })
  return { all: from.all + behind.all, byLinks: from.byLinks + behind.byLinks }
}

/** Adds settled invoices to the stored count, unless another process advanced it meanwhile. */
async function moveOn(
  counts: mongoose.mongo.Collection<InvoiceCountDocument>,
  invoices: Invoices,
  scope: MonthScope,
  { from, isNew }: { readonly from: StoredCount; readonly isNew: boolean },
): Promise<void> {
  const { startsAt, endsAt } = boundsOf(scope.at)
  const through = uuidLowerBound(Math.min(scope.at - SETTLED_AFTER_MS, endsAt))
  // Not for every request of a busy minute: each advance costs another read and a write.
  if (from.through > uuidLowerBound(scope.at - 2 * SETTLED_AFTER_MS) || through <= from.through) return
  const settled = await countBetween(invoices, scope, from.through, through)
  if (!isNew) {
    const held = { _id: idOf(scope), through: from.through }
    await counts.updateOne(held, { $set: { through }, $inc: { all: settled.all, byLinks: settled.byLinks } })
    return
  }
  const { workspaceId, mode } = scope
  const checked = { checkedThrough: uuidLowerBound(startsAt), checkedAll: 0, checkedByLinks: 0 }
  const row = { _id: idOf(scope), workspaceId, mode, month: monthOf(scope.at), through, ...settled, ...checked }
  await unlessTaken(() => counts.insertOne({ ...row, monthEndsAt: toDate(endsAt) }))
}

async function countBetween(
  invoices: Invoices,
  { workspaceId, mode }: Pick<MonthScope, 'workspaceId' | 'mode'>,
  from: string,
  to: string,
): Promise<MonthCount> {
  const found = await invoices
    .aggregate<{ _id: InvoiceDocument['source']; count: number }>(
      [
        { $match: { workspaceId, mode, _id: { $gte: from, $lt: to } } },
        { $group: { _id: '$source', count: { $sum: 1 } } },
      ],
      { hint: 'invoice_list' },
    )
    .toArray()
  const byLinks = found.find(({ _id }) => _id === 'link')?.count ?? 0
  return { all: found.reduce((sum, { count }) => sum + count, 0), byLinks }
}

async function repair(
  counts: mongoose.mongo.Collection<InvoiceCountDocument>,
  invoices: Invoices,
  at: Ms,
): Promise<readonly CountRepair[]> {
  const repaired: CountRepair[] = []
  // A month is compared for the last time after its end, when its last creates have long been stored.
  const running = await counts.find({ monthEndsAt: { $gt: toDate(at - 3 * ID_TIME_SLACK_MS) } }).toArray()
  for (const row of running) {
    // Ids are texts in the order of time: the earlier position, and never one before what is compared already.
    const [settled = row.through] = [uuidLowerBound(at - ID_TIME_SLACK_MS), row.through].sort()
    const [through = settled] = [settled, row.checkedThrough].sort().reverse()
    const early = await countBetween(invoices, row, row.checkedThrough, through)
    const late = await countBetween(invoices, row, through, row.through)
    const checked = { checkedAll: row.checkedAll + early.all, checkedByLinks: row.checkedByLinks + early.byLinks }
    const all = checked.checkedAll + late.all
    const byLinks = checked.checkedByLinks + late.byLinks
    const change = { $set: { ...checked, checkedThrough: through, all, byLinks } }
    // A create that advanced the count meanwhile added to the wrong one: the next repair finds it.
    const { matchedCount } = await counts.updateOne({ _id: row._id, through: row.through }, change)
    if (matchedCount === 0 || (all === row.all && byLinks === row.byLinks)) continue
    const { workspaceId, mode, month } = row
    repaired.push({ workspaceId, mode, month, stored: row.all, right: all })
  }
  return repaired
}

const keyOf = ({ workspaceId, mode }: Omit<MonthScope, 'at'>): string => `${workspaceId}:${mode}`
const monthOf = (at: Ms): string => new Date(at).toISOString().slice(0, 7)
const idOf = ({ workspaceId, mode, at }: MonthScope): string => `${workspaceId}:${mode}:${monthOf(at)}`

function boundsOf(at: Ms): { readonly startsAt: Ms; readonly endsAt: Ms } {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { startsAt: Date.UTC(year, month, 1), endsAt: Date.UTC(year, month + 1, 1) }
}
