import type { ArchiveBatch } from '#shared/db/backup/archive-batch.ts'
import type { InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import type { AddressDocument } from '#shared/db/wallets/wallet-models.ts'

/** The most that one key, or one invoice series, issued in any stretch of time as long as the archive is old. */
export interface IssuedEstimate {
  /** Id of the key, or `invoice numbers of <workspace> (<mode>)`. */
  readonly of: string
  readonly most: number
}

/**
 * Collects, from the batches of an archive, when each address and number was issued. Memory grows with the number of invoices and derived addresses: some
 * 200 bytes each.
 */
export function createIssuedEstimate() {
  const issuedAt = new Map<string, number>()
  const materialOf = new Map<string, string>()
  const createdAt = new Map<string, { readonly series: string; readonly at: number }>()

  const addInvoice = ({ _id, workspaceId, mode, createdAt: at, paymentMethods }: InvoiceDocument): void => {
    createdAt.set(_id, { series: `invoice numbers of ${workspaceId} (${mode})`, at: at.getTime() })
    for (const { family, matchKey, from } of paymentMethods) {
      const key = `${mode}:${family}:${matchKey}`
      issuedAt.set(key, Math.min(issuedAt.get(key) ?? Number.POSITIVE_INFINITY, from.getTime()))
    }
  }

  return {
    add: ({ name, documents }: ArchiveBatch): void => {
      for (const document of documents) {
        if (name === 'invoices') addInvoice(document as unknown as InvoiceDocument)
        if (name !== 'addresses') continue
        const { _id, materialId, heldBy } = document as unknown as AddressDocument
        if (heldBy === undefined) materialOf.set(_id, materialId)
      }
    },
    /** Largest first; keys and series that issued nothing are left out. `ageMs` is the age of the archive. */
    most: (ageMs: number): readonly IssuedEstimate[] => {
      const times = new Map<string, number[]>()
      const note = (of: string, at: number): void => {
        const known = times.get(of)
        if (known === undefined) times.set(of, [at])
        else known.push(at)
      }
      for (const [key, at] of issuedAt) {
        const material = materialOf.get(key)
        if (material !== undefined) note(material, at)
      }
      for (const { series, at } of createdAt.values()) note(series, at)
      const found = [...times].map(([of, at]) => ({ of, most: mostWithin(at, ageMs) }))
      return found.toSorted((one, other) => other.most - one.most)
    },
  }
}

/** The most of these times that lie in any window of this length. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  let [from, most] = [0, 0]
  for (const [to, at] of sorted.entries()) {
    while (at - (sorted[from] ?? at) > windowMs) from += 1
    most = Math.max(most, to - from + 1)
  }
  return most
}
