import type { Database } from '#shared/db/connection/connect.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'

/** Where a workspace's money may lie, on MongoDB. Reads at most two documents for each address that was asked about. */
export function createFundsReads(db: Database) {
  const invoices = db.collection(INVOICES)
  const payments = db.collection(PAYMENTS)
  return {
    /** Those of these addresses (match keys) at which an invoice of the workspace holds a claim, or which received a payment for it. */
    async usedBy({
      workspaceId,
      mode,
      family,
      matchKeys,
    }: {
      readonly workspaceId: string
      readonly mode: Mode
      readonly family: Family
      readonly matchKeys: readonly string[]
    }): Promise<ReadonlySet<string>> {
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
