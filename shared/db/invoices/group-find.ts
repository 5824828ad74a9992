import { createBatchLookup } from '#shared/db/connection/batch-lookup.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { invoiceFromDocument } from './invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from './invoice-model.ts'
import type { InvoiceRepository } from './invoice-repository.ts'

interface Place {
  readonly workspaceId: string
  readonly mode: Mode
  readonly id: string
}

/**
 * Concurrent reads of one process are sent as one find command. Each result is as fresh as that of a separate
 * read, because the command starts after the request, and is returned only to the caller with its workspace and mode.
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
    // The filter is wider than its requests when two workspaces share it; these names keep them apart.
    nameOfKey: ({ workspaceId, mode, id }) => `${workspaceId} ${mode} ${id}`,
    nameOfItem: ({ workspaceId, mode, _id }) => `${workspaceId} ${mode} ${_id}`,
  })
  return async (workspaceId, mode, id) => {
    const stored = await lookup({ workspaceId, mode, id })
    // Here and not in the shared read: one unreadable document must not fail the others.
    return stored === null ? null : invoiceFromDocument(stored)
  }
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
