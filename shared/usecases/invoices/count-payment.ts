import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ApplyDeps, applyInvoiceEvent } from './apply-invoice-event.ts'
import { refusalError } from './refusal-error.ts'

/** Dependencies of counting a payment. */
export type CountDeps = ApplyDeps & Uses<'invoices' | 'payments'>

/** The payment, and the operator who counts it. */
export interface CountInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly paymentId: string
  readonly actor: string
  /** The operator's reason. */
  readonly reason: string
}

/**
 * Counts a confirmed dust payment with its own amount, and writes an audit row in the same write. The status of
 * the invoice follows from its sums. Repeating it changes nothing, also after a crash at any line. Throws `NOT_FOUND` for a payment
 * of no invoice of this workspace and mode, and `INVALID_STATE` for other payments, for unconfirmed dust and for an
 * invoice that accepts none.
 */
export async function countPayment(deps: CountDeps, input: CountInput): Promise<Invoice> {
  const { workspaceId, mode, paymentId, actor, reason } = input
  const payment = await deps.payments.findById(paymentId)
  const invoiceId = payment?.invoiceId ?? null
  if (payment === null || invoiceId === null) throw new PaymeshError('NOT_FOUND')
  if ((await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)) === null) throw new PaymeshError('NOT_FOUND')
  const event = { type: 'payment_counted' as const, payment: payment.key, by: actor, reason }
  const result = await applyInvoiceEvent(deps, { invoiceId, event, opId: `count:${payment.id}` })
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
  return result.invoice
}
