import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import type { Rig } from './rig.ts'

const PER_WORKSPACE = 100

/** Copies the template, in its relayed state, into every workspace; returns the ids of each, newest first. */
export async function seedInvoices(rig: Rig): Promise<ReadonlyMap<string, readonly string[]>> {
  const random = createRandom(Date.now)
  const { outboxAt: _outboxAt, idem: _idem, claims: _claims, ...same } = rig.template.document
  const ids = new Map<string, string[]>()
  for (const workspaceId of new Set(rig.keys.map((key) => key.workspaceId))) {
    const rows = Array.from({ length: PER_WORKSPACE }, (_, index): InvoiceDocument => {
      const _id = random.uuid()
      const claims = _claims === undefined ? {} : { claims: [`${_claims[0]}-${_id}`] }
      // Above the number of the template itself.
      return { ...same, ...claims, _id, workspaceId, number: index + 2, outbox: [] }
    })
    await rig.api.db.collection(INVOICES).insertMany(rows)
    ids.set(workspaceId, rows.map((row) => row._id).reverse())
  }
  return ids
}
