import type mongoose from 'mongoose'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import { ID_TIME_SLACK_MS, uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { holdingPlaceOf } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES, type LedgerDocument } from '#shared/db/invoices/invoice-model.ts'
import { requirePlace } from '#shared/db/workspaces/plan-place.ts'
import type { InvoiceStatus, Mode, PaymentState } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import {
  LINK_USES_MAX,
  type LinkUse,
  type LinkVisit,
  linkUseOf,
  type PaymentLink,
  type PaymentLinkChange,
} from '#shared/ports/payment-links.ts'
import type { ProductQuery } from '#shared/ports/workspace-page-query.ts'
import { afterPlace, listSort } from './list-order.ts'
import { type CountedUses, PAYMENT_LINKS, type PaymentLinkDocument } from './payment-link-model.ts'

/** Ends that an invoice leaves only with money, which then is in its ledger. */
const ENDED = ['expired', 'cancelled'] as const

const OUT_OF_QUOTE = 'out_of_quote'

/** Payment links on MongoDB. */
export function createPaymentLinkRepository(db: Database) {
  const links = db.collection(PAYMENT_LINKS)
  const invoices = db.collection(INVOICES)

  const findInWorkspace = async (workspaceId: string, mode: Mode, id: string): Promise<PaymentLink | null> =>
    PAYMENT_LINKS.toRecord(await links.findOne({ _id: id, workspaceId, mode }))

  return {
    /**
     * Stores a link, together with an audit row if one is given, or returns the one that already has the id; null when that
     * one cannot be read yet. With an audit row, throws `PLAN_LIMIT_REACHED` when the workspace has `most` active links of this mode already.
     */
    insert: async (link: PaymentLink, audit?: AuditRecord, most: number | null = null): Promise<PaymentLink | null> => {
      const insert = async ({ session }: { readonly session?: mongoose.mongo.ClientSession }): Promise<void> => {
        const within = session === undefined ? {} : { session }
        const { workspaceId, mode } = link
        const active = { workspaceId, mode, status: 'active' as const }
        // A repetition of the request that took the last place gets its link.
        if (session !== undefined && most !== null && (await links.findOne({ _id: link.id }, within)) === null)
          await requirePlace(db, { workspaceId, most, session }, () => links.countDocuments(active, within))
        await links.insertOne(PAYMENT_LINKS.toDocument(link), within)
      }
      if (await unlessTaken(() => insertAudited(db, audit, insert))) return link
      return PAYMENT_LINKS.toRecord(await links.findOne({ _id: link.id }, NEWEST))
    },
    findInWorkspace,
    /** For payers, who have only the link's id. */
    findById: async (id: string): Promise<PaymentLink | null> =>
      PAYMENT_LINKS.toRecord(await links.findOne({ _id: id })),
    list: async (query: ProductQuery): Promise<readonly PaymentLink[]> =>
      (await links.find(linkListFilter(query)).sort(listSort(query)).limit(query.limit).toArray()).map(
        PAYMENT_LINKS.toRecord,
      ),
    /** Deactivates a link once and returns it; an inactive link is unchanged. Null when unknown. */
    deactivate: async (
      workspaceId: string,
      mode: Mode,
      id: string,
      at: Ms,
      audit?: AuditRecord,
    ): Promise<PaymentLink | null> => {
      const active = { _id: id, workspaceId, mode, status: 'active' as const }
      const change = {
        $set: { status: 'inactive' as const, deactivatedAt: toDate(at) },
        $max: { updatedAt: toDate(at) },
      }
      if (audit === undefined) await links.updateOne(active, change)
      else
        await audited(
          db,
          audit,
          async (session) => (await links.updateOne(active, change, { session })).matchedCount === 1,
        )
      return findInWorkspace(workspaceId, mode, id)
    },
    /**
     * Changes an active link that was last changed at `version`, in one write with its audit row. False, and nothing is stored, when it was
     * changed since, is inactive or unknown, or when the action of this row ran before.
     */
    update: (
      { workspaceId, mode, id, version }: Pick<PaymentLink, 'workspaceId' | 'mode' | 'id'> & { readonly version: Ms },
      change: PaymentLinkChange,
      at: Ms,
      audit: AuditRecord,
    ): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const seen = { _id: id, workspaceId, mode, status: 'active' as const, updatedAt: toDate(version) }
        const changed = { $set: PAYMENT_LINKS.toFields({ ...change, updatedAt: at }) }
        return (await links.updateOne(seen, changed, { session })).matchedCount === 1
      }),
    /** Active links of a workspace and mode, counted up to `max`. */
    countActive: (workspaceId: string, mode: Mode, max: number): Promise<number> =>
      links.countDocuments({ workspaceId, mode, status: 'active' }, { limit: max }),
    /**
     * Invoices made from each of these links; links without any are left out. Reads at most the invoices of the last 70 minutes before `at`
     * and a hundred for each link, except for the first time.
     */
    countUses: (ids: readonly string[], at: Ms): Promise<ReadonlyMap<string, number>> => countLinkUses(db, ids, at),
    /** The uses of a limited link that invoices hold. */
    usesHeld: async (linkId: string): Promise<readonly LinkUse[]> => {
      // Every use of the link, and of no other: `;` follows `:`.
      const ofLink = { linkUse: { $gte: `${linkId}:`, $lt: `${linkId};` } }
      const projection = { linkUse: 1, status: 1, ledger: 1, expiresAt: 1 }
      const found = await invoices.find(ofLink, { projection }).limit(LINK_USES_MAX).toArray()
      return found.map(({ _id, linkUse = '', status, ledger, expiresAt }) => ({
        place: Number(linkUse.slice(linkId.length + 1)),
        invoiceId: _id,
        isUnpaid: hasEnded(status) && !ledger.some(holds),
        returnsAt: (status === 'new' || status === 'pending') && !ledger.some(holds) ? toMs(expiresAt) : null,
      }))
    },
    /**
     * Takes a use from an invoice that ended without any transfer, so that late money does not settle it automatically any more; false when it
     * holds the use no more, or is not such an invoice.
     */
    releaseUse: async (
      linkId: string,
      { place, invoiceId }: Pick<LinkUse, 'place' | 'invoiceId'>,
    ): Promise<boolean> => {
      const linkUse = linkUseOf(linkId, place)
      // A payment that its sender replaced, or that left its chain, holds no use: it costs nothing. Nor does one of another coin: a person decides.
      const live: PaymentState[] = ['detected', 'confirmed']
      const own = [{ counted: true }, { uncountedReason: OUT_OF_QUOTE }]
      const noMoney = { $nor: [{ ledger: { $elemMatch: { state: { $in: live }, $or: own } } }] }
      const unpaid = { _id: invoiceId, linkUse, status: { $in: [...ENDED] }, ...noMoney }
      // Money must not settle it any more without a person's decision, whenever it came, also where a change of it is on its way.
      const change = {
        $unset: { linkUse: '' as const },
        $set: { 'paymentMethods.$[].policy.lateGraceMs': 0, 'paymentMethods.$[].policy.isUseGone': true as const },
        $inc: { version: 1 },
      }
      return (await invoices.updateOne(unpaid, change)).modifiedCount === 1
    },
    /** The invoices that have a place `<prefix>:…`, at most as many as a link can have uses. */
    visitsAt: async (prefix: string): Promise<readonly LinkVisit[]> => {
      const projection = { draws: 1, status: 1, ledger: 1, linkUse: 1, expiresAt: 1, updatedAt: 1, visit: 1 }
      const found = await invoices.find(holdingPlaceOf(prefix), { projection }).limit(LINK_USES_MAX).toArray()
      return found.map(({ _id, draws = [], status, ledger, linkUse, expiresAt, updatedAt, visit }) => ({
        place: draws.find((draw) => draw.startsWith(`${prefix}:`)) ?? '',
        invoiceId: _id,
        repeats: visit?.repeats ?? 0,
        expiresAt: toMs(expiresAt),
        endedAt:
          hasEnded(status) && (!ledger.some(holds) || linkUse === undefined)
            ? Math.min(toMs(expiresAt), toMs(updatedAt))
            : null,
      }))
    },
    /** Takes a place from an invoice that ended; false when it has the place no more, or changes meanwhile. */
    releaseVisit: async ({ place, invoiceId }: Pick<LinkVisit, 'place' | 'invoiceId'>): Promise<boolean> => {
      const ended = { _id: invoiceId, draws: place, status: { $in: [...ENDED] } }
      const stored = await invoices.findOne(ended, { projection: { draws: 1, visit: 1, version: 1 } })
      if (stored?.visit === undefined) return false
      const { version, draws = [], visit } = stored
      const left = draws.filter((draw) => draw !== place)
      const change = {
        // An empty array would collide under the unique index.
        ...(left.length === 0 && { $unset: { draws: '' as const } }),
        $set: {
          visit: { ...visit, places: visit.places.filter((other) => other !== place) },
          ...(left.length > 0 && { draws: left }),
        },
        // A change that was decided on the place would write it again: its version is over.
        $inc: { version: 1 },
      }
      return (await invoices.updateOne({ _id: invoiceId, version }, change)).modifiedCount === 1
    },
  }
}

/** The type of what {@link createPaymentLinkRepository} returns. */
export type PaymentLinkRepository = ReturnType<typeof createPaymentLinkRepository>

/** Money in the coin that was asked for, on its chain; too late for its price it holds a use as well, because the merchant may accept it. */
const holds = (row: Pick<LedgerDocument, 'state' | 'counted' | 'uncountedReason'>): boolean =>
  isLive(row) && (row.counted || row.uncountedReason === OUT_OF_QUOTE)

const hasEnded = (status: InvoiceStatus): boolean => ENDED.some((ended) => ended === status)

/** The filter of `GET /payment-links`; exported for the test that explains it. */
export function linkListFilter(query: ProductQuery): mongoose.mongo.Filter<PaymentLinkDocument> {
  const { workspaceId, mode } = query
  return { workspaceId, mode, ...afterPlace(query) }
}

/** Invoices after the stored count beyond which the count is advanced. */
const BEHIND_MAX = 100
/** A stored count is advanced by at least this much time, so that a busy link is not written for each read. */
const ADVANCE_MIN_MS = 600_000

type Uses = ReadonlyMap<string, number>

const NONE: Uses = new Map()

/**
 * Invoices made from each of these links: what the link stores up to an id, and the invoices from that id on. An invoice with an id that is
 * older than an hour is stored or never will be (`ID_TIME_SLACK_MS`), and no invoice is ever removed or given to another link, so that a
 * stored count stays right. Only a compare-and-set on its id advances it: of many processes one adds the same invoices, and a
 * crash between reading and writing adds none. A create writes nothing for it.
 */
async function countLinkUses(db: Database, ids: readonly string[], at: Ms): Promise<Uses> {
  const counted = await storedCounts(db, ids)
  const plain = ids.filter((id) => !counted.has(id))
  const [whole, ...tails] = await Promise.all([
    plain.length === 0 ? NONE : usesOf(db, usesPipeline(plain)),
    ...[...counted].map(([id, { through }]) => usesOf(db, usesPipeline([id], { $gte: through }))),
  ])
  const behind = new Map([...whole, ...tails.flatMap((tail) => [...tail])])
  for (const [id, uses] of behind) if (uses > BEHIND_MAX) await advance(db, id, { from: counted.get(id) ?? null, at })
  const all = ids.map((id) => [id, (counted.get(id)?.uses ?? 0) + (behind.get(id) ?? 0)] as const)
  return new Map(all.filter(([, uses]) => uses > 0))
}

/** Counts the invoices of each link in one pass over index keys; exported for the test that explains it. */
export function usesPipeline(ids: readonly string[], range: Range | null = null): mongoose.mongo.Document[] {
  const match = { paymentLinkId: { $in: [...ids] }, ...(range !== null && { _id: range }) }
  return [{ $match: match }, { $group: { _id: '$paymentLinkId', uses: { $sum: 1 } } }]
}

type Range = Readonly<{ $gte?: string; $lt?: string }>

async function usesOf(db: Database, pipeline: mongoose.mongo.Document[]): Promise<Uses> {
  const counted = await db
    .collection(INVOICES)
    .aggregate<{ _id: string; uses: number }>(pipeline, { hint: 'invoice_of_link' })
    .toArray()
  return new Map(counted.map(({ _id, uses }) => [_id, uses]))
}

async function storedCounts(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, CountedUses>> {
  const found = db.collection(PAYMENT_LINKS).find({ _id: { $in: [...ids] } }, { projection: { counted: 1 } })
  return new Map((await found.toArray()).flatMap(({ _id, counted }) => (counted == null ? [] : [[_id, counted]])))
}

/** Adds settled invoices to the stored count, unless another process advanced it meanwhile. */
async function advance(
  db: Database,
  id: string,
  { from, at }: { readonly from: CountedUses | null; readonly at: Ms },
): Promise<void> {
  const settledAt = at - ID_TIME_SLACK_MS
  if (from !== null && from.through > uuidLowerBound(settledAt - ADVANCE_MIN_MS)) return
  const through = uuidLowerBound(settledAt)
  const range = { ...(from !== null && { $gte: from.through }), $lt: through }
  const settled = (await usesOf(db, usesPipeline([id], range))).get(id) ?? 0
  const held = from === null ? { counted: { $exists: false } } : { 'counted.through': from.through }
  const counted = { through, uses: (from?.uses ?? 0) + settled }
  await db.collection(PAYMENT_LINKS).updateOne({ _id: id, ...held }, { $set: { counted } })
}
