import { PaymeshError } from '#shared/contracts/errors.ts'
import type { InvoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Word } from '#shared/domain/invoice/model.ts'
import type { Invoice, InvoiceRepository } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { type CreateInvoiceDeps, createInvoice } from './create-invoice.ts'

/** How long to look for the invoice that a refused insert proved to exist. */
const READ_BACK_MS = 5_000

/** What creating by hand needs. */
export interface CreateByHandDeps extends CreateInvoiceDeps {
  readonly invoices: CreateInvoiceDeps['invoices'] & Pick<InvoiceRepository, 'findById' | 'findByIdempotencyKey'>
}

/**
 * Creates an invoice in the name of an operator, noted in the audit trail with the same write. The operation's id guards it as a merchant's
 * idempotency key does: the same one again gives the invoice of the first run. Throws `WORKSPACE_SUSPENDED`,
 * `WORKSPACE_RESTRICTED`, `IDEMPOTENCY_MISMATCH` for another wish under the same id, and what creating throws.
 */
export async function createInvoiceByHand(
  deps: CreateByHandDeps,
  input: {
    readonly workspace: Workspace
    readonly mode: Mode
    readonly body: InvoiceCreateBody
    readonly opId: string
    readonly word: Word
    readonly fingerprint: string
    readonly requestId: string
  },
): Promise<Invoice> {
  const { workspace, mode, body, opId, word, fingerprint, requestId } = input
  const key = `operator:${opId}`
  const earlier = await deps.invoices.findByIdempotencyKey(workspace.id, mode, key)
  if (earlier !== null) return sameWish(earlier, fingerprint)
  if (workspace.status === 'suspended') throw new PaymeshError('WORKSPACE_SUSPENDED')
  if (workspace.status === 'restricted') throw new PaymeshError('WORKSPACE_RESTRICTED')
  const idempotency = { key, fingerprint, requestId, at: deps.clock.now() }
  const result = await createInvoice(deps, { workspace, mode, body, source: 'manual', idempotency, word })
  const until = deps.clock.now() + READ_BACK_MS
  do {
    // The first insert may not be majority-committed yet.
    const found = await deps.invoices.findByIdempotencyKey(workspace.id, mode, key)
    if (found !== null) return sameWish(found, fingerprint)
  } while (deps.clock.now() < until)
  throw new Error(`the invoice of operation ${opId} (${result.outcome}) cannot be read`)
}

function sameWish(
  { invoice, idempotency }: { readonly invoice: Invoice; readonly idempotency: { readonly fingerprint: string } },
  fingerprint: string,
): Invoice {
  if (idempotency.fingerprint !== fingerprint) throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  return invoice
}
