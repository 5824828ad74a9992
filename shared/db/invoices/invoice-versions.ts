import type { Database } from '#shared/db/connection/connect.ts'
import { INVOICES } from './invoice-model.ts'

/** Ids in one query: a request of about 50 KB. */
const IDS_MAX = 1_000

/** Versions of invoices on MongoDB, by their primary key. */
export function createInvoiceVersions(db: Database) {
  const invoices = db.collection(INVOICES)
  return {
    /** How often each of these invoices and its refunds changed, as its payer's view counts it; unknown ids are left out. */
    versionsOf: async (ids: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const versions = new Map<string, number>()
      for (let from = 0; from < ids.length; from += IDS_MAX) {
        const some = ids.slice(from, from + IDS_MAX)
        const found = invoices.find({ _id: { $in: some } }, { projection: { version: 1, refundSeq: 1 } })
        for await (const { _id, version, refundSeq = 0 } of found) versions.set(_id, version + refundSeq)
      }
      return versions
    },
  }
}
