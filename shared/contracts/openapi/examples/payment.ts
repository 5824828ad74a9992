import type { PaymentResource } from '#shared/contracts/http/payment-resource.ts'
import { EXAMPLE } from './ids.ts'

/** A confirmed transfer of the example invoice. */
export const confirmedPayment: PaymentResource = {
  id: EXAMPLE.paymentId,
  object: 'payment',
  livemode: true,
  invoice_id: EXAMPLE.invoiceId,
  asset: 'usdc_base',
  network: 'base',
  symbol: 'USDC',
  amount: '49.91',
  amount_base_units: '49910000',
  decimals: 6,
  status: 'confirmed',
  tx_hash: '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060',
  output_index: 12,
  from_address: '0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe',
  to_address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  block_number: 36_120_455,
  block_hash: '0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6',
  confirmations: 10,
  required_confirmations: 10,
  counted: true,
  uncounted_reason: null,
  late: false,
  simulated: false,
  explorer_url: 'https://basescan.org/tx/0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060',
  detected_at: '2026-10-01T12:04:11.000Z',
  confirmed_at: EXAMPLE.paidAt,
  created_at: '2026-10-01T12:04:11.000Z',
  updated_at: EXAMPLE.paidAt,
}
