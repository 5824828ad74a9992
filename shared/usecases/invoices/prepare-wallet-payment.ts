import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import type { AddressReader } from '#shared/ports/refunds.ts'
import { type ChainClient, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { type ViewInvoiceDeps, viewInvoice } from './view-invoice.ts'

/** Dependencies of preparing a transaction for a payer's wallet. */
export interface PrepareWalletPaymentDeps extends ViewInvoiceDeps {
  readonly payees: AddressReader
  /** A node of the network; null when there is none. */
  readonly nodeOf: (mode: Mode, network: NetworkId) => Pick<ChainClient, 'prepareTransfer'> | null
}

/**
 * The unsigned transaction with which the payer's `account` pays exactly what is left of the invoice, as base64. Changes nothing: the wallet
 * signs and sends it, and only a scanner finds the payment. Throws `NOT_FOUND` for an unknown invoice, `INVALID_STATE` when nothing is to be
 * sent or the network's wallets need no prepared transaction, and `VALIDATION_ERROR` with path `address` for an account that is none. Null
 * when no node answers.
 */
export async function prepareWalletPayment(
  deps: PrepareWalletPaymentDeps,
  { invoiceId, account }: { readonly invoiceId: string; readonly account: string },
): Promise<string | null> {
  const invoice = await deps.invoices.findById(invoiceId)
  const view = invoice === null ? null : await viewInvoice(deps, invoiceId)
  if (invoice === null || view === null) throw new PaymeshError('NOT_FOUND')
  const method = activePaymentMethod(invoice.state)
  const { lock, mode } = view
  const now = deps.clock.now()
  // As on the page: once the price has expired, there is no amount until the payer asks for another.
  const hasPrice = view.status === 'partial' || (view.status === 'pending' && now < (lock?.quoteEndsAt ?? 0))
  const isDue = hasPrice && now < view.expiresAt
  if (method === null || lock === null || !isDue || lock.remainingBase === '0' || lock.browser == null)
    throw new PaymeshError('INVALID_STATE')
  const { address: from } = deps.payees.read(lock.network, mode, account)
  const node = deps.nodeOf(mode, lock.network)
  if (node?.prepareTransfer === undefined) throw new PaymeshError('INVALID_STATE')
  // The view and the method are two reads: a coin chosen in between must not lead to a payment to the other address.
  if (method.address !== lock.address || method.asset !== lock.asset) throw new PaymeshError('INVALID_STATE')
  const { contract } = lock.browser
  const amountBase = BigInt(lock.remainingBase)
  const reference = method.reference ?? null
  if (from === lock.address) throw invalid([{ path: 'address', message: 'is the address that receives the payment' }])
  return await node
    .prepareTransfer({ from, to: lock.address, contract, amountBase, reference })
    .catch((error: unknown) => {
      if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return null
      throw error
    })
}
