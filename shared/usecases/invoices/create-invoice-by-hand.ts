import { PaymeshError } from '#shared/contracts/errors.ts'
import type { InvoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Attribution } from '#shared/domain/invoice/invoice-event.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type CreateInvoiceDeps, createInvoice } from './create-invoice.ts'

/** How long to search for the invoice after an insert was refused because it exists. */
const READ_BACK_MS = 5_000

/** Dependencies of manual creation. */
export type CreateByHandDeps = CreateInvoiceDeps & Uses<'invoices'>

/**
 * Creates an invoice for an operator, with its audit row in the same write. The operation's id works like a merchant's
 * idempotency key: repeating it returns the invoice of the first run. Throws
 * `IDEMPOTENCY_MISMATCH` for a different request under the same id, and every error of creating.
 */
export async function createInvoiceByHand(
  deps: CreateByHandDeps,
  input: {
    readonly workspace: Workspace
    readonly mode: Mode
    readonly body: InvoiceCreateBody
    readonly opId: string
    readonly attribution: Attribution
    readonly fingerprint: string
    readonly requestId: string
  },
): Promise<Invoice> {
  const { workspace, mode, body, opId, attribution, fingerprint, requestId } = input
  const key = `operator:${opId}`
  const earlier = await deps.invoices.findByIdempotencyKey(workspace.id, mode, key)
  if (earlier !== null) return isSameRequest(earlier, fingerprint)
  const idempotency = { key, fingerprint, requestId, at: deps.clock.now() }
  const result = await createInvoice(deps, { workspace, mode, body, source: 'manual', idempotency, attribution })
  const until = deps.clock.now() + READ_BACK_MS
  do {
    // The first insert may not be majority-committed yet.
    const found = await deps.invoices.findByIdempotencyKey(workspace.id, mode, key)
    if (found !== null) return isSameRequest(found, fingerprint)
  } while (deps.clock.now() < until)
  throw new Error(`the invoice of operation ${opId} (${result.outcome}) cannot be read`)
}

function isSameRequest(
  { invoice, idempotency }: { readonly invoice: Invoice; readonly idempotency: { readonly fingerprint: string } },
  fingerprint: string,
): Invoice {
  if (idempotency.fingerprint !== fingerprint) throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  return invoice
}
