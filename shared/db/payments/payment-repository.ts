import type mongoose from 'mongoose'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import type { MarketRate } from '#shared/domain/books/movements.ts'
import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { FoldPlace } from '#shared/domain/invoice/fold-reading.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type {
  ObservedTransfer,
  Payment,
  PaymentListQuery,
  UnconfirmedOutcome,
  UncountedReason,
} from '#shared/ports/payments.ts'
import type { Random } from '#shared/ports/runtime.ts'
import * as scopes from './payment-mapping.ts'
import { BY_KEY, createInvoicePayments, paymentFromDocument, paymentToDocument } from './payment-mapping.ts'
import { PAYMENTS, type PaymentBlock, type PaymentDocument } from './payment-model.ts'
import { idsUnderKeys, moveAll, ORPHANED, PLACE_AFTER_CHANGE, recordObservations } from './payment-scan-writes.ts'

/** Dirty rows read per invoice, because one invoice may have several. */
const DIRTY_ROWS_PER_INVOICE = 4

/**
 * Payments on MongoDB, written by scanners and fenced by the epoch of their lease. `random` makes the public ids and
 * marks each scanner write.
 */
export function createPaymentRepository(db: Database, random: Random) {
  const payments = db.collection(PAYMENTS)
  const all = async (filter: Parameters<typeof payments.find>[0]): Promise<readonly Payment[]> =>
    (await payments.find(filter).toArray()).map(paymentFromDocument)

  return {
    /**
     * Upserts observations under their keys, fenced by epoch; immutable fields are written once, the block position
     * follows the chain, and an orphaned, dropped or replaced payment that is seen again becomes `detected`. Version and dirtyAt
     * change only when a field changed. Another amount, receiver or token for an existing key is a separate payment when it is in another block:
     * the first one is orphaned, the new one stored under `otherMoveKey`. Returns the payments that changed. Throws
     * `ScannerFenced`, and `AmountContradicted` on a difference in the same block.
     */
    recordObservations: (
      observations: readonly ObservedTransfer[],
      epoch: number,
      at: Ms,
    ): Promise<readonly Payment[]> => recordObservations({ payments, random }, observations, epoch, at),
    /** Inserts a simulated payment, together with an audit row if one is given; `exists` when the key is taken. */
    insertSimulated: async (payment: Payment, audit?: AuditRecord): Promise<'inserted' | 'exists'> => {
      const row = paymentToDocument(payment)
      const insert = () => insertAudited(db, audit, (within) => payments.insertOne({ ...row }, within))
      return (await unlessTaken(insert)) ? 'inserted' : 'exists'
    },

    /** The `detected` payments that `confirmThrough` would check. */
    dueForConfirmation: (scope: {
      mode: Mode
      network: NetworkId
      height: number
      finalizedHeight: number | null
    }): Promise<readonly Payment[]> => all(scopes.dueForConfirmation(scope)),
    /**
     * `detected` → `confirmed` for payments with `confirmAt` ≤ height that are final where required. Those whose block
     * differs from the one in the network's cursor at its height are orphaned instead; those of `except` (transfer keys)
     * are unchanged. Returns the changed payments.
     */
    confirmThrough: async ({
      mode,
      network,
      height,
      finalizedHeight,
      except = [],
      epoch,
      at,
    }: {
      mode: Mode
      network: NetworkId
      height: number
      finalizedHeight: number | null
      except?: readonly string[]
      epoch: number
      at: Ms
    }): Promise<readonly Payment[]> => {
      const deep = scopes.dueForConfirmation({ mode, network, height, finalizedHeight })
      const due = except.length === 0 ? deep : { ...deep, key: { $nin: [...except] } }
      const found = await payments.find(due, { projection: { block: 1 } }).toArray()
      if (found.length === 0) return []
      const scanned = await scannedHashes(db, mode, network)
      const isNonCanonical = ({ block }: (typeof found)[number]) =>
        block !== null && (scanned.get(block.height) ?? block.hash) !== block.hash
      const only = (rows: typeof found) => ({ ...due, _id: { $in: rows.map((row) => row._id) } })
      const sound = only(found.filter((row) => !isNonCanonical(row)))
      const confirmed = { state: 'confirmed', confirmedAt: toDate(at) }
      return [
        ...(await moveAll(payments, random, sound, confirmed, epoch, at)),
        ...(await moveAll(payments, random, only(found.filter(isNonCanonical)), ORPHANED, epoch, at)),
      ]
    },
    /** The `detected` on-chain payments of a network that are in no block. */
    unconfirmed: (mode: Mode, network: NetworkId): Promise<readonly Payment[]> =>
      all(scopes.unconfirmed(mode, network)),
    /** Ends payments that are still `detected` in no block. Returns the changed payments. Throws `ScannerFenced`. */
    endUnconfirmed: async ({
      mode,
      network,
      outcomes,
      epoch,
      at,
    }: {
      mode: Mode
      network: NetworkId
      outcomes: readonly UnconfirmedOutcome[]
      epoch: number
      at: Ms
    }): Promise<readonly Payment[]> => {
      const ended: Payment[] = []
      for (const { keys, change } of sameOutcomes(outcomes)) {
        const filter = {
          ...scopes.unconfirmed(mode, network),
          _id: { $in: await idsUnderKeys(payments, keys) },
        }
        ended.push(...(await moveAll(payments, random, filter, change, epoch, at)))
      }
      return ended
    },
    /** When the first of the live on-chain payments above a fork was seen first; null without one. */
    firstSeenAbove: async (scope: { mode: Mode; network: NetworkId; forkHeight: number }): Promise<Ms | null> => {
      const [first] = await payments.find(scopes.above(scope)).sort({ firstSeenAt: 1 }).limit(1).toArray()
      return first === undefined ? null : first.firstSeenAt.getTime()
    },
    /** Orphans every live on-chain payment above a fork, or only those that are `detected`. Returns the changed payments. */
    orphanAbove: ({
      epoch,
      at,
      ...scope
    }: {
      mode: Mode
      network: NetworkId
      forkHeight: number
      unconfirmedOnly?: boolean
      epoch: number
      at: Ms
    }): Promise<readonly Payment[]> => moveAll(payments, random, scopes.above(scope), ORPHANED, epoch, at),
    /**
     * Orphans unconfirmed on-chain payments at heights from `from` to the last of these scanned blocks that are in
     * none of them: left by a scanner that stopped between storing payments and moving its cursor. `from` is the height of
     * the first block unless earlier heights were found empty; `confirmedToo` orphans confirmed ones as well. Returns
     * the changed payments.
     */
    orphanMissing: async ({
      epoch,
      at,
      ...scope
    }: {
      mode: Mode
      network: NetworkId
      from?: number
      confirmedToo?: boolean
      blocks: readonly Pick<PaymentBlock, 'height' | 'hash'>[]
      epoch: number
      at: Ms
    }): Promise<readonly Payment[]> =>
      scope.blocks.length === 0 ? [] : moveAll(payments, random, scopes.notInTheseBlocks(scope), ORPHANED, epoch, at),
    /** The payments that `orphanMissing` would orphan. */
    listNonCanonical: async (scope: scopes.BlocksOfHeights): Promise<readonly Payment[]> =>
      scope.blocks.length === 0 ? [] : all(scopes.notInTheseBlocks(scope)),

    /** `detected` → `confirmed` for the simulated payments of an invoice; other payments are unchanged. */
    confirmSimulated: async (invoiceId: string, at: Ms): Promise<void> => {
      const now = toDate(at)
      const played = { invoiceId, kind: 'simulated', state: 'detected' } as const
      const change = { state: 'confirmed', confirmedAt: now, updatedAt: now, dirtyAt: now } as const
      const bookedAt = { $concatArrays: ['$bookedAt', [now]] }
      await payments.updateMany(played, [
        { $set: { ...change, bookedAt, version: { $add: ['$version', 1] }, place: PLACE_AFTER_CHANGE } },
      ])
    },
    findById: async (id: string): Promise<Payment | null> => {
      const stored = await payments.findOne({ _id: id })
      return stored === null ? null : paymentFromDocument(stored)
    },
    /** Those of these transfer keys that are stored, in no order. */
    findByKeys: async (keys: readonly string[]): Promise<readonly Payment[]> =>
      keys.length === 0
        ? []
        : (await payments.find(BY_KEY.among(keys), { hint: BY_KEY.hint }).toArray()).map(paymentFromDocument),
    /** Those of these transfer keys whose payment belongs to an invoice. */
    attributedAmong: async (keys: readonly string[]): Promise<ReadonlySet<string>> => {
      if (keys.length === 0) return new Set()
      const found = await payments
        .find(
          { ...BY_KEY.among(keys), invoiceId: { $ne: null } },
          { hint: BY_KEY.hint, projection: { _id: 0, key: 1 } },
        )
        .toArray()
      return new Set(found.map(({ key }) => key))
    },
    // Transfer keys begin with their transaction.
    /** Everything stored of one transaction, by the order of transfer keys. */
    listByTransaction: async (mode: Mode, network: NetworkId, txHash: string): Promise<readonly Payment[]> => {
      const { hint } = BY_KEY
      const found = payments.find(BY_KEY.beginningWith(`${mode}:${network}:${txHash}`), { hint }).sort({ key: 1 })
      return (await found.toArray()).map(paymentFromDocument)
    },
    ...createInvoicePayments(payments),
    list: async (query: PaymentListQuery): Promise<readonly Payment[]> =>
      (await payments.find(scopes.listed(query)).sort({ _id: -1 }).limit(query.limit).toArray()).map(
        paymentFromDocument,
      ),
    /** Live on-chain payments to these addresses in these assets in blocks from `from` to `to`. */
    listInBlocks: ({
      assets,
      matchKeys,
      ...scope
    }: {
      mode: Mode
      network: NetworkId
      assets: readonly AssetId[]
      matchKeys: readonly string[]
      from: number
      to: number
    }): Promise<readonly Payment[]> =>
      all({
        ...scopes.liveInBlocks(scope),
        matchKey: { $in: [...matchKeys] },
        asset: { $in: [...assets] },
        kind: 'onchain',
      }),
    /** Live on-chain payments in blocks from `from` to `to`: how many there are, and how many of them are confirmed. */
    countInBlocks: async (scope: {
      mode: Mode
      network: NetworkId
      from: number
      to: number
    }): Promise<{ readonly live: number; readonly confirmed: number }> => {
      const found = await payments
        .aggregate<{ _id: PaymentDocument['state']; count: number }>([
          { $match: scopes.liveInBlocks(scope) },
          { $group: { _id: '$state', count: { $sum: 1 } } },
        ])
        .toArray()
      const confirmed = found.find((row) => row._id === 'confirmed')?.count ?? 0
      return { live: found.reduce((sum, row) => sum + row.count, 0), confirmed }
    },
    /** Payments to these addresses that belong to no invoice, newest first. */
    listUnheld: async (mode: Mode, matchKeys: readonly string[], limit: number): Promise<readonly Payment[]> =>
      (
        await payments
          .find({ matchKey: { $in: [...matchKeys] }, invoiceId: null, mode }, { hint: 'payment_address' })
          .sort({ _id: -1 })
          .limit(limit)
          .toArray()
      ).map(paymentFromDocument),
    /**
     * Assigns an unmatched confirmed payment to an invoice, by compare-and-set on its version, which is incremented.
     * False when it belongs to another invoice by now, or changed otherwise.
     */
    attribute: async (
      { id, version }: Pick<Payment, 'id' | 'version'>,
      owner: { readonly invoiceId: string; readonly workspaceId: string },
      at: Ms,
    ): Promise<boolean> => {
      const given = await payments.updateOne(
        { _id: id, version, invoiceId: null, state: 'confirmed' },
        {
          $set: { ...owner, bookedAt: [toDate(at)], version: version + 1, dirtyAt: toDate(at), updatedAt: toDate(at) },
        },
      )
      return given.matchedCount === 1
    },

    /** Has these payments applied again, from `at` on, unless their decision is stored before: its invoice is about to change it. */
    markDirty: async (keys: readonly string[], at: Ms): Promise<void> => {
      await payments.updateMany(
        { ...BY_KEY.among(keys), dirtyAt: { $exists: false } },
        [{ $set: { dirtyAt: toDate(at), place: PLACE_AFTER_CHANGE } }],
        { hint: BY_KEY.hint },
      )
    },
    /** Stores the fold's decisions, and the market price where one is given, and clears dirtyAt where the version is still the applied one. */
    markApplied: (rows: readonly AppliedRow[]): Promise<void> => markApplied(payments, rows),
    /**
     * Invoices with payments whose version has not been applied since `before`, those that waited longest first. Moves
     * them to the end of the queue (as of `at`): an invoice that cannot be advanced does not delay others.
     */
    takeDirtyInvoices: async ({
      before,
      at,
      limit,
    }: {
      before: Ms
      at: Ms
      limit: number
    }): Promise<readonly string[]> => {
      const overdue = scopes.unapplied(before)
      if (!(await isAny(db, { of: PAYMENTS, filter: overdue, hint: 'payment_dirty' }))) return []
      const rows = await payments
        .find(overdue, { projection: { invoiceId: 1 } })
        .sort({ dirtyAt: 1 })
        .limit(limit * DIRTY_ROWS_PER_INVOICE)
        .toArray()
      const ids = [...new Set(rows.flatMap((row) => row.invoiceId ?? []))].slice(0, limit)
      if (ids.length === 0) return ids
      await payments.updateMany({ invoiceId: { $in: ids }, ...overdue }, { $set: { dirtyAt: toDate(at) } })
      return ids
    },
  }
}

/** A fold's decision about one payment. */
interface AppliedRow {
  key: string
  version: number
  counted: boolean
  uncountedReason: UncountedReason | null
  late: boolean
  place: FoldPlace
  market?: MarketRate | null
}

async function markApplied(
  payments: mongoose.mongo.Collection<PaymentDocument>,
  rows: readonly AppliedRow[],
): Promise<void> {
  if (rows.length === 0) return
  const operations = rows.map(({ key, version, counted, uncountedReason, late, place, market }) => ({
    updateOne: {
      filter: { ...BY_KEY.one(key), version },
      update: {
        $set: {
          counted,
          uncountedReason,
          late,
          place,
          ...PAYMENTS.toFields(market === undefined ? {} : { market }),
        },
        $unset: { dirtyAt: '' as const },
      },
      hint: BY_KEY.hint,
    },
  }))
  await payments.bulkWrite(operations, { ordered: false })
}

/** The type of what {@link createPaymentRepository} returns. */
export type PaymentRepository = ReturnType<typeof createPaymentRepository>

/** One change for all payments with the same outcome. */
function sameOutcomes(outcomes: readonly UnconfirmedOutcome[]) {
  const groups = new Map<string, { keys: string[]; change: Readonly<Record<string, unknown>> }>()
  for (const outcome of outcomes) {
    const replacedBy = outcome.state === 'replaced' ? outcome.replacedBy : null
    const group = groups.get(replacedBy ?? '') ?? { keys: [], change: { state: outcome.state, replacedBy } }
    group.keys.push(outcome.key)
    groups.set(replacedBy ?? '', group)
  }
  return groups.values()
}

/** Hashes by height of the blocks in the network's cursor: the newest ones without gaps. */
async function scannedHashes(db: Database, mode: Mode, network: NetworkId): Promise<ReadonlyMap<number, string>> {
  const cursor = await db
    .collection(CHAIN_CURSORS)
    .findOne({ _id: `${mode}:${network}` }, { projection: { window: 1 } })
  return new Map(cursor?.window ?? [])
}
