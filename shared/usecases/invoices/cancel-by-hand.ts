import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type CancelDeps, type CancelInput, cancelInvoice } from './cancel-invoice.ts'

/** As `cancelInvoice`; when another operator was faster, the error names them. */
export async function cancelByHand(deps: CancelDeps & Uses<'audits'>, input: CancelInput): Promise<Invoice> {
  try {
    return await cancelInvoice(deps, input)
  } catch (error) {
    if (!(error instanceof PaymeshError) || error.code !== 'INVALID_STATE') throw error
    const invoice = await deps.invoices.findById(input.invoiceId)
    if (invoice?.state.status !== 'cancelled') throw error
    const relayed = await deps.audits.newestOf(input.invoiceId, 'invoice.cancelled')
    const waiting = invoice.outbox.find(({ kind, type }) => kind === 'audit' && type === 'cancelled')
    const who = (relayed?.actor ?? waiting?.actor)?.replace(/^user:/, '') ?? 'Somebody'
    const at = new Date(relayed?.at ?? waiting?.at ?? invoice.state.updatedAt).toISOString()
    throw new PaymeshError('INVALID_STATE', {
      message: `${who} cancelled this at ${at}. No changes were made.`,
      cause: error,
    })
  }
}
