import type { PaymentResource } from '#shared/contracts/http/payment-resource.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { Payment } from '#shared/ports/payments.ts'

/** Values of a payment record that are not stored with the payment. */
export interface PaymentContext {
  readonly asset: Pick<AssetInfo, 'id' | 'symbol' | 'decimals'>
  /** Link to the transaction in a public explorer; null for simulated payments and private networks. */
  readonly explorerUrl: string | null
  /** Blocks on top, including the payment's own, as of the committed cursor; 0 while it is in no block. */
  readonly confirmations: number
}

/** The public payment record. Only payments of an invoice in a known asset may be presented; `invoiceId` must be set. */
export function presentPayment(payment: Payment, context: PaymentContext): PaymentResource {
  const { asset } = context
  return {
    id: payment.id,
    object: 'payment',
    livemode: payment.mode === 'live',
    invoice_id: payment.invoiceId ?? '',
    asset: asset.id,
    network: payment.network,
    symbol: asset.symbol,
    amount: formatUnits(payment.amountBase, asset.decimals),
    amount_base_units: payment.amountBase.toString(),
    decimals: asset.decimals,
    status: payment.state,
    tx_hash: payment.txHash,
    output_index: payment.outputIndex,
    from_address: payment.fromAddress,
    to_address: payment.toAddress,
    block_number: payment.block?.height ?? null,
    block_hash: payment.block?.hash ?? null,
    confirmations: context.confirmations,
    required_confirmations: payment.requiredConfirmations,
    // What is gone counts for nothing, whatever was decided about it.
    counted: payment.counted && isLive(payment),
    uncounted_reason: payment.uncountedReason,
    late: payment.late,
    simulated: payment.kind === 'simulated',
    explorer_url: context.explorerUrl,
    detected_at: new Date(payment.firstSeenAt).toISOString(),
    confirmed_at: payment.confirmedAt === null ? null : new Date(payment.confirmedAt).toISOString(),
    created_at: new Date(payment.createdAt).toISOString(),
    updated_at: new Date(payment.updatedAt).toISOString(),
  }
}
