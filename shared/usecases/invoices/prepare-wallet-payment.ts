import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import type { AddressReader } from '#shared/ports/refunds.ts'
import { type ChainClient, NodeMismatch, NodeUnreliable, type WantedTransfer } from '#shared/ports/scanning.ts'
import { type ViewInvoiceDeps, viewInvoice } from './view-invoice.ts'

/** A node as far as payers' wallets need it. */
type WalletNode = Pick<ChainClient, 'prepareTransfer' | 'sendTransfer'>

/** Dependencies of preparing a transaction for a payer's wallet, and of sending it. */
export interface WalletPaymentDeps extends ViewInvoiceDeps {
  readonly payees: AddressReader
  /** A node of the network; null when there is none. */
  readonly nodeOf: (mode: Mode, network: NetworkId) => WalletNode | null
}

/** Who pays which invoice from a wallet. */
interface WalletPayer {
  readonly invoiceId: string
  readonly account: string
}

/**
 * The unsigned transaction with which the payer's `account` pays exactly what is left of the invoice, in the form of the network's family. Changes nothing: the
 * wallet signs it, and only a scanner finds the payment. Throws `NOT_FOUND` for an unknown invoice, `INVALID_STATE` when nothing is to be
 * sent or the network's wallets need no prepared transaction, and `VALIDATION_ERROR` with path `address` for an account that is none. Null
 * when no node answers.
 */
export async function prepareWalletPayment(deps: WalletPaymentDeps, payer: WalletPayer): Promise<string | null> {
  const { node, transfer } = await dueTransfer(deps, payer)
  if (node.prepareTransfer === undefined) throw new PaymeshError('INVALID_STATE')
  return await node.prepareTransfer(transfer).catch((error: unknown) => {
    if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return null
    throw error
  })
}

/** The transfer of exactly what is left now, from the payer's account. Throws as `prepareWalletPayment` does. */
export async function dueTransfer(
  deps: WalletPaymentDeps,
  { invoiceId, account }: WalletPayer,
): Promise<{ readonly node: WalletNode; readonly transfer: WantedTransfer }> {
  const invoice = await deps.invoices.findById(invoiceId)
  const view = invoice === null ? null : await viewInvoice(deps, invoiceId)
  if (invoice === null || view === null) throw new PaymeshError('NOT_FOUND')
  const method = activePaymentMethod(invoice.state)
  const { paymentMethod, mode } = view
  const now = deps.clock.now()
  // As on the page: once the price has expired, there is no amount until the payer asks for another.
  const isOpen = view.status === 'pending' || view.status === 'partial'
  const hasPrice = isOpen && now < (paymentMethod?.quoteEndsAt ?? 0)
  const isDue = hasPrice && now < view.expiresAt
  if (
    method === null ||
    paymentMethod === null ||
    !isDue ||
    paymentMethod.remainingBase === '0' ||
    paymentMethod.browser == null
  )
    throw new PaymeshError('INVALID_STATE')
  const { address: from } = deps.payees.read(paymentMethod.network, mode, account)
  const node = deps.nodeOf(mode, paymentMethod.network)
  if (node === null) throw new PaymeshError('INVALID_STATE')
  // The view and the method are two reads: a coin chosen in between must not lead to a payment to the other address.
  if (method.address !== paymentMethod.address || method.asset !== paymentMethod.asset)
    throw new PaymeshError('INVALID_STATE')
  if (from === paymentMethod.address)
    throw invalid([{ path: 'address', message: 'is the address that receives the payment' }])
  const { contract } = paymentMethod.browser
  const amountBase = BigInt(paymentMethod.remainingBase)
  return {
    node,
    transfer: { from, to: paymentMethod.address, contract, amountBase, reference: method.reference ?? null },
  }
}
