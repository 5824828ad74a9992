import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Word } from '#shared/domain/invoice/model.ts'
import type { Invoice, InvoiceRepository } from '#shared/ports/invoices.ts'
import { type ApplyDeps, applyInvoiceEvent } from './apply-invoice-event.ts'
import { refusalError } from './refusal-error.ts'

/** What cancelling needs. */
export interface CancelDeps extends ApplyDeps {
  readonly invoices: Pick<InvoiceRepository, 'findById' | 'save' | 'findInWorkspace'>
}

/** Which invoice, in whose name. */
export interface CancelInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string
  /** Makes a retry after a lost answer succeed instead of failing on the state it made itself. */
  readonly opId: string
  /** The operator who does it; absent for merchants' programs. */
  readonly word?: Word
}

/**
 * Cancels an invoice that has received nothing and returns it. Payments that are stored but not yet applied count as
 * received. Throws `NOT_FOUND` for an unknown or foreign invoice and `INVALID_STATE` when it can no longer be cancelled.
 */
export async function cancelInvoice(deps: CancelDeps, input: CancelInput): Promise<Invoice> {
  const { workspaceId, mode, invoiceId, opId } = input
  if ((await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)) === null) throw new PaymeshError('NOT_FOUND')
  const result = await applyInvoiceEvent(deps, { invoiceId, event: { type: 'cancel_requested', ...input.word }, opId })
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
  return result.invoice
}
