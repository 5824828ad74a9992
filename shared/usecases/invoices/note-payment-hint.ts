import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { mayBeTransactionId, transactionId } from '#shared/usecases/networks/transaction-id.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Hints that an invoice keeps at most: a payer sends once, or a few times after an underpayment. */
export const HINTS_MAX = 5
/** A transaction confirmed in the wallet's last second is reported this long after the invoice's end. */
const AFTER_END_MS = 3_600_000

/** Dependencies of storing a hint. */
export type NotePaymentHintDeps = Uses<'invoices' | 'hints' | 'clock'>

/**
 * Stores what a payer's wallet says about a transaction. Nothing is checked but its form, and nothing of the invoice changes: only the
 * scanner finds payments. An invoice that is paid, cancelled, without a coin or over for an hour keeps no hint. Returns the network's
 * scanner `<mode>-<network>` to wake where a hint was stored, null otherwise. Throws `NOT_FOUND` for an unknown invoice and
 * `VALIDATION_ERROR` for text that is no transaction id of the invoice's network.
 */
export async function notePaymentHint(
  deps: NotePaymentHintDeps,
  { invoiceId, txHash }: { readonly invoiceId: string; readonly txHash: string },
): Promise<string | null> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  const { terms, state } = invoice
  const method = activePaymentMethod(state)
  if (method === null || !keepsHints(invoice, deps.clock.now())) return null
  const { network, family } = method
  const { workspaceId, mode } = terms
  if (!mayBeTransactionId(family, txHash)) throw invalid([{ path: 'txHash', message: 'is not a transaction ID' }])
  const id = transactionId(family, txHash)
  const hint = { invoiceId, workspaceId, mode, network, txHash: id, at: deps.clock.now() }
  return (await deps.hints.add(hint, HINTS_MAX)) ? `${mode}-${network}` : null
}

/** Whether money is still expected, or may be on its way. */
export function keepsHints({ state }: Pick<Invoice, 'state'>, at: number): boolean {
  const { status, expiresAt } = state
  if (status === 'pending' || status === 'partial' || status === 'confirming') return true
  return status === 'expired' && at < expiresAt + AFTER_END_MS
}
