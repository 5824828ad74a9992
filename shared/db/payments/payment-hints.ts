import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { OWNED_FIELDS, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** A transaction that a payer's wallet says it sent. Nobody checked it, and it never changes an invoice. */
interface PaymentHint {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly network: NetworkId
  /** In the network's own spelling (`transactionId`). */
  readonly txHash: string
  readonly at: Ms
}

const DAY_S = 86_400
/** Invoices in one query: a request of about 50 KB. */
const IDS_MAX = 1_000

/** The payment_hints collection; a row expires a day after it was stored. */
export const PAYMENT_HINTS = defineCollection(
  'payment_hints',
  {
    /** `<invoice>:<place>`, so that the places of an invoice are their limit. */
    _id: z.string(),
    invoiceId: z.string(),
    ...OWNED_FIELDS,
    network: textAs<NetworkId>(),
    /** In the network's own spelling (`transactionId`). */
    txHash: z.string(),
    at: TIME,
  },
  [
    { name: 'hint_invoice', key: { invoiceId: 1 } },
    { name: 'hint_life', key: { at: 1 }, expireAfterSeconds: DAY_S },
  ],
)

/** A stored hint; `_id` is `<invoice>:<place>`, so that the places of an invoice are its limit. */
export type PaymentHintDocument = StoredOf<typeof PAYMENT_HINTS>

/**
 * Hints on MongoDB. Two processes that store at once meet at the same place: the unique `_id` is the claim, and who loses sees whether
 * the winner stored the same transaction.
 */
export function createPaymentHints(db: Database) {
  const rows = db.collection(PAYMENT_HINTS)
  const listByInvoice = async (invoiceId: string): Promise<readonly PaymentHint[]> => {
    const found = await rows.find({ invoiceId }).sort({ _id: 1 }).toArray()
    return found.map(({ _id, at, ...hint }) => ({ ...hint, at: toMs(at) })).sort((left, right) => left.at - right.at)
  }
  /** Stores a row unless its place is taken. Gives the row that was there before, null if none was. */
  const claim = async ({ _id, ...rest }: PaymentHintDocument): Promise<PaymentHintDocument | null> =>
    await rows.findOneAndUpdate({ _id }, { $setOnInsert: rest }, { upsert: true, returnDocument: 'before' })
  return {
    /** The hints of an invoice, the oldest first. */
    listByInvoice,
    /** Stores a hint, unless its invoice has it already or has `max` of them. True when it was stored. */
    add: async (hint: PaymentHint, max: number): Promise<boolean> => {
      const known = await listByInvoice(hint.invoiceId)
      if (known.some(({ txHash }) => txHash === hint.txHash)) return false
      for (let place = 0; place < max; place += 1) {
        const row = { _id: `${hint.invoiceId}:${place}`, ...hint, at: toDate(hint.at) }
        const holder = await claim(row).catch(async (error: unknown) => {
          // Another process took the place a moment ago.
          if (duplicateKeyFields(error) === null) throw error
          return await claim(row)
        })
        if (holder === null) return true
        if (holder.txHash === hint.txHash) return false
      }
      return false
    },
    /** How many hints each of these invoices has; those without any are left out. */
    countsOf: async (invoiceIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const counts = new Map<string, number>()
      for (let from = 0; from < invoiceIds.length; from += IDS_MAX) {
        const some = invoiceIds.slice(from, from + IDS_MAX)
        const found = rows.find({ invoiceId: { $in: some } }, { projection: { invoiceId: 1 } })
        for await (const { invoiceId } of found) counts.set(invoiceId, (counts.get(invoiceId) ?? 0) + 1)
      }
      return counts
    },
  }
}
