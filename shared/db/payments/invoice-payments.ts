import type mongoose from 'mongoose'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { SmallRest } from '#shared/domain/invoice/fold.ts'
import { IN_FOLD } from '#shared/domain/invoice/fold-reading.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { BY_KEY } from './payment-keys.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import type { PaymentDocument } from './payment-model.ts'
import * as scopes from './payment-scopes.ts'

/** Outpoints are only for the scanner. */
const WITHOUT_SPENDS = { projection: { spends: 0 } } as const
/** Payments that one fold adds to those it always reads; more are left to the next ones. */
const FOLD_MAX = 500
/** Dust that one fold compares with a small rest, the largest first: what closes no rest cannot hide what does. */
const DUST_MAX = 100
/** Payments of one invoice that are shown besides those in its ledger: the newest. */
const SHOWN_MAX = 200

/** The payments of one read for a fold. */
export interface FoldRead {
  readonly payments: readonly Payment[]
  /** Payments were left out that another read will return once these have their places. */
  readonly hasMore: boolean
}

/** Reads of one invoice's payments. */
export function createInvoicePayments(payments: mongoose.mongo.Collection<PaymentDocument>) {
  const withoutSpends = (stored: PaymentDocument): Payment => paymentFromDocument({ ...stored, spends: [] })
  const bare = async (
    filter: mongoose.mongo.Filter<PaymentDocument>,
    options: mongoose.mongo.FindOptions = {},
  ): Promise<readonly Payment[]> =>
    (await payments.find(filter, { ...WITHOUT_SPENDS, ...options }).toArray()).map(withoutSpends)
  const listAmong = async (invoiceId: string, keys: readonly string[]): Promise<readonly Payment[]> =>
    keys.length === 0
      ? []
      : (
          await payments.find({ ...BY_KEY.among(keys), invoiceId }, { ...WITHOUT_SPENDS, hint: BY_KEY.hint }).toArray()
        ).map(withoutSpends)

  return {
    /** All of them, however many, oldest first, with their outpoints. */
    listByInvoice: async (invoiceId: string): Promise<readonly Payment[]> =>
      (await payments.find({ invoiceId }).sort({ _id: 1 }).toArray()).map(paymentFromDocument),
    /**
     * What a fold needs, without outpoints and in no order: payments with these keys, all that are `IN_FOLD`, and up to 500 of those that were
     * not applied since they changed, or put aside under another `foldKey`. `isFinal`: what is new is read linearizably, because a decision follows that
     * nothing takes back, such as the end of an invoice without money; rejects when no majority confirms it.
     */
    listForFold: async (
      invoiceId: string,
      foldKey: string,
      { keys, isFinal }: { readonly keys: readonly string[]; readonly isFinal: boolean },
    ): Promise<FoldRead> => {
      const freshBatch = { limit: FOLD_MAX + 1, batchSize: FOLD_MAX + 2, ...(isFinal && NEWEST) }
      const [named, counting, fresh] = await Promise.all([
        listAmong(invoiceId, keys),
        bare({ invoiceId, place: IN_FOLD }),
        bare(scopes.notFolded(invoiceId, foldKey), freshBatch),
      ])
      const found = [...named, ...counting, ...fresh.slice(0, FOLD_MAX)]
      return { payments: unique(found), hasMore: fresh.length > FOLD_MAX }
    },
    /** Live dust that was put aside under this `foldKey` and may close a rest: up to 100, the largest first. */
    listDustFor: async (invoiceId: string, foldKey: string, rest: SmallRest): Promise<readonly Payment[]> =>
      (
        await payments
          .find(scopes.dustFor(invoiceId, foldKey, rest), WITHOUT_SPENDS)
          .sort({ place: -1 })
          .limit(DUST_MAX)
          .toArray()
      ).map(withoutSpends),
    /** For people: those with these keys and the newest 200, without outpoints, oldest first. */
    listShown: async (invoiceId: string, keys: readonly string[]): Promise<readonly Payment[]> => {
      const newest = payments.find({ invoiceId }, WITHOUT_SPENDS).sort({ _id: -1 }).limit(SHOWN_MAX)
      const [named, rows] = await Promise.all([listAmong(invoiceId, keys), newest.toArray()])
      return unique([...named, ...rows.map(withoutSpends)]).toSorted((one, other) => (one.id < other.id ? -1 : 1))
    },
    /** Whether an operation simulated a payment of the invoice. */
    hasSimulated: async (invoiceId: string, opId: string): Promise<boolean> =>
      (await payments.findOne({ invoiceId, kind: 'simulated', opId }, { projection: { _id: 1 } })) !== null,
    /** Scripts or addresses of its payments that wait for confirmations. */
    detectedMatchKeys: async (invoiceId: string): Promise<ReadonlySet<string>> => {
      const found = payments.find({ invoiceId, state: 'detected' }, { projection: { _id: 0, matchKey: 1 } })
      return new Set((await found.toArray()).map(({ matchKey }) => matchKey))
    },
    /** Those with one of these transfer keys, without their outpoints, in no order. */
    listAmong,
    /** The newest ones that ended in no block. */
    listEnded: async (invoiceId: string, limit: number): Promise<readonly Payment[]> =>
      (
        await payments
          .find({ invoiceId, state: { $in: ['orphaned', 'dropped', 'replaced'] } })
          .sort({ _id: -1 })
          .limit(limit)
          .toArray()
      ).map(paymentFromDocument),
  }
}

function unique(payments: readonly Payment[]): readonly Payment[] {
  return [...new Map(payments.map((payment) => [payment.key, payment])).values()]
}
