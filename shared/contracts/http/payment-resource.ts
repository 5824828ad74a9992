import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { PAYMENT_STATES } from '#shared/domain/enumerations.ts'
import {
  absoluteUrl,
  assetDecimals,
  assetId,
  blockCount,
  chainToken,
  decimalText,
  networkId,
  tickerSymbol,
  timestamp,
  wholeText,
} from './wire-types.ts'

const blockNumber = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const reason = boundedText(40).regex(/^[a-z_]+$/)

/** The public payment: one on-chain (or simulated) transfer attributed to an invoice. All fields are always present. */
export const paymentResource = z
  .strictObject({
    id: z.uuid().describe('Unique.'),
    object: z.literal('payment'),
    livemode: z.boolean().describe('False for payments of test invoices.'),
    invoice_id: z.uuid().describe('The invoice it was attributed to.'),
    asset: assetId,
    network: networkId,
    symbol: tickerSymbol,
    amount: decimalText.describe('Amount in units of the asset.'),
    amount_base_units: wholeText.describe('Amount in base units.'),
    decimals: assetDecimals,
    status: z
      .enum(PAYMENT_STATES)
      .describe(
        '`detected` and `confirmed` payments exist on the chain; `replaced`, `dropped` and `orphaned` ones no longer do.',
      ),
    tx_hash: chainToken
      .nullable()
      .describe(
        'Transaction; null for simulated payments, and for coins from a contract call that only the balance of the address shows.',
      ),
    output_index: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .nullable()
      .describe('Output, log or instruction inside the transaction.'),
    from_address: chainToken.nullable().describe('Sender, if the chain has one.'),
    to_address: chainToken.describe('The invoice address that received it.'),
    block_number: blockNumber.nullable().describe('Block or slot; null until it is in one.'),
    block_hash: chainToken.nullable().describe('Hash of that block.'),
    confirmations: blockCount.describe('Confirmations so far, including its own block.'),
    required_confirmations: blockCount.describe('Confirmations required.'),
    counted: z.boolean().describe('Whether it counts towards the invoice.'),
    uncounted_reason: reason
      .nullable()
      .describe(
        'Why it does not count: `wrong_asset`, `out_of_quote`, `dust` (too small to change anything) and others.',
      ),
    late: z.boolean().describe('It arrived after the invoice expired.'),
    simulated: z.boolean().describe('It was created with the simulate operation.'),
    explorer_url: absoluteUrl.nullable().describe('The transaction in a public block explorer.'),
    detected_at: timestamp.describe('When it was first seen.'),
    confirmed_at: timestamp.nullable().describe('When it reached the required confirmations.'),
    created_at: timestamp.describe('When it was first recorded.'),
    updated_at: timestamp.describe('When it last changed.'),
  })
  .meta({ id: 'Payment', description: 'An on-chain transfer attributed to an invoice.' })
export type PaymentResource = z.infer<typeof paymentResource>
