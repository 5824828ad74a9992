import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Attribution } from '#shared/domain/invoice/invoice-event.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ApplyDeps, applyInvoiceEvent } from './apply-invoice-event.ts'
import { refusalError } from './refusal-error.ts'

/** Dependencies of cancelling. */
export type CancelDeps = ApplyDeps & Uses<'invoices'>

/** The invoice, and the workspace it must belong to. */
export interface CancelInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string
  /** Lets a retry after a lost response succeed instead of failing on the state that it created. */
  readonly opId: string
  /** The operator who cancels; absent for API calls. */
  readonly attribution?: Attribution
}

/**
 * Cancels an invoice that has received nothing and returns it. Payments that are stored but not yet applied count as
 * received. Throws `NOT_FOUND` for an unknown or foreign invoice and `INVALID_STATE` when it can no longer be cancelled.
 */
export async function cancelInvoice(deps: CancelDeps, input: CancelInput): Promise<Invoice> {
  const { workspaceId, mode, invoiceId, opId } = input
  if ((await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)) === null) throw new PaymeshError('NOT_FOUND')
  const result = await applyInvoiceEvent(deps, {
    invoiceId,
    event: { type: 'cancel_requested', ...input.attribution },
    opId,
  })
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
  return result.invoice
}
