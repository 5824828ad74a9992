import type { Database } from '#shared/db/connection/connect.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { FundsReads } from '#shared/ports/funds.ts'

/** Where a workspace's money may lie, on MongoDB. Reads at most two documents for each address that was asked about. */
export function createFundsReads(db: Database): FundsReads {
  const invoices = db.collection(INVOICES)
  const payments = db.collection(PAYMENTS)
  return {
    async usedBy({ workspaceId, mode, family, matchKeys }) {
      const claims = matchKeys.map((matchKey) => `${mode}:${family}:${matchKey}`)
      const held = await invoices
        .find({ claims: { $in: claims }, workspaceId }, { projection: { _id: 0, claims: 1 } })
        .toArray()
      const taken = new Set(held.flatMap((row) => row.claims ?? []))
      const found = await Promise.all(
        matchKeys.map(async (matchKey, index) => {
          if (taken.has(claims[index] ?? '')) return [matchKey]
          const payment = await payments.findOne({ matchKey, workspaceId, mode }, { projection: { _id: 1 } })
          return payment === null ? [] : [matchKey]
        }),
      )
      return new Set(found.flat())
    },
  }
}
