import { createBatchLookup } from '#shared/db/connection/batch-lookup.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { InvoiceRepository } from '#shared/ports/invoices.ts'
import { invoiceFromDocument } from './invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from './invoice-model.ts'

interface Place {
  readonly workspaceId: string
  readonly mode: Mode
  readonly id: string
}

/**
 * Reads of one process that happen at the same time travel as one find command. Each answer is as fresh as a read of its
 * own, because the command starts after the question, and is given only to who named its workspace and its mode.
 */
export function createGroupedFind(db: Database): InvoiceRepository['findInWorkspace'] {
  const invoices = db.collection(INVOICES)
  const lookup = createBatchLookup<Place, InvoiceDocument>({
    findMany: (places) =>
      invoices
        .find({
          _id: { $in: places.map(({ id }) => id) },
          workspaceId: { $in: distinct(places.map(({ workspaceId }) => workspaceId)) },
          mode: { $in: distinct(places.map(({ mode }) => mode)) },
        })
        .toArray(),
    // The filter is wider than its questions when two workspaces share it; these names are what keeps them apart.
    nameOfKey: ({ workspaceId, mode, id }) => `${workspaceId} ${mode} ${id}`,
    nameOfItem: ({ workspaceId, mode, _id }) => `${workspaceId} ${mode} ${_id}`,
  })
  return async (workspaceId, mode, id) => {
    const stored = await lookup({ workspaceId, mode, id })
    // Here and not in the shared read: a document that cannot be understood must not fail its neighbours.
    return stored === null ? null : invoiceFromDocument(stored)
  }
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
