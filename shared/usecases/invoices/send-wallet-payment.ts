import { PaymeshError } from '#shared/contracts/errors.ts'
import type { SendOutcome, SignedTransfer } from '#shared/ports/scanning.ts'
import { dueTransfer, type WalletPaymentDeps } from './prepare-wallet-payment.ts'

/**
 * Hands a prepared transaction that the payer's wallet signed to the network, for wallets that only sign. It must still pay exactly what is
 * left of this invoice, to its address: anything else reaches no node. Changes nothing in the store, and only a scanner finds the payment.
 * Throws as `prepareWalletPayment` does.
 */
export async function sendWalletPayment(
  deps: WalletPaymentDeps,
  { invoiceId, account, ...signed }: SignedTransfer & { readonly invoiceId: string; readonly account: string },
): Promise<SendOutcome> {
  const { node, transfer } = await dueTransfer(deps, { invoiceId, account })
  if (node.sendTransfer === undefined) throw new PaymeshError('INVALID_STATE')
  return await node.sendTransfer(transfer, signed)
}
