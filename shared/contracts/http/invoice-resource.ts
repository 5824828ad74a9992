import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import { metadataResource } from './metadata.ts'
import { moneyResource } from './money.ts'
import {
  absoluteUrl,
  assetDecimals,
  assetId,
  blockCount,
  chainToken,
  decimalText,
  freeText,
  networkId,
  tickerSymbol,
  timestamp,
  wholeText,
} from './wire-types.ts'

const crypto = z
  .strictObject({
    asset: assetId,
    network: networkId,
    symbol: tickerSymbol,
    amount: decimalText.describe(
      'Exact amount to pay, in units of the asset: the whole price, or what was paid so far plus the rest at the current rate. ' +
        'After a part payment ask for the amount in `uri`: the rest, rounded up to what a payer can type and the chain carries.',
    ),
    amount_base_units: wholeText.describe('The same amount in base units: satoshi, wei, lamports.'),
    decimals: assetDecimals,
    address: chainToken.describe('Address to pay to. It belongs to this invoice.'),
    uri: boundedText(2_048)
      .regex(/^[!-~]*$/)
      .meta({
        description:
          'For wallets and QR codes: a payment link for what is left to pay now. On TRON, where wallets agree on no link, the plain address. ' +
          'Empty while nothing is asked for: confirming, paid, overpaid, expired, cancelled, or only a new price on the checkout can name an amount.',
      }),
    required_confirmations: blockCount.describe('Confirmations that a payment needs; fixed when the asset was locked.'),
  })
  .meta({ id: 'InvoiceCrypto', description: 'What to pay on-chain.' })

const rate = z
  .strictObject({
    fiat_per_asset: decimalText.describe('Price of one unit of the asset in the invoice currency, in full precision.'),
    locked_at: timestamp.describe('When the rate was fixed.'),
    expires_at: timestamp.describe(
      'When the locked rate and exact amount expire. After that the payer gets a new price for what is left.',
    ),
  })
  .meta({ id: 'InvoiceRate', description: 'The rate used to compute the crypto amount.' })

const received = z
  .strictObject({
    amount: decimalText.describe('Sum of counted payments, confirmed or not, in units of the locked asset.'),
    amount_base_units: wholeText.describe('The same sum in base units.'),
    confirmed_base_units: wholeText.describe('The confirmed part of it in base units.'),
  })
  .meta({ id: 'InvoiceReceived', description: 'Amounts received so far.' })

const flags = z
  .strictObject({
    paid_late: z.boolean().describe('A payment arrived after the invoice expired.'),
    underpaid_accepted: z
      .boolean()
      .describe(
        'Less than the full amount counts as paid: the merchant accepted it, or nobody can send so small a rest.',
      ),
  })
  .meta({ id: 'InvoiceFlags', description: 'Circumstances in addition to the status.' })

const customer = z
  .strictObject({
    email: freeText(254).nullable().describe('Email address given at creation.'),
    name: freeText(200).nullable().describe('Name given at creation.'),
  })
  .meta({ id: 'InvoiceCustomer', description: 'The payer, if given.' })

const urls = z
  .strictObject({
    checkout: absoluteUrl.describe('Hosted checkout page: send the payer there.'),
    receipt: absoluteUrl.describe('Receipt page.'),
    success: absoluteUrl.nullable().describe('Where the checkout links to after payment.'),
    cancel: absoluteUrl.nullable().describe('Where the checkout links to when the payer cancels.'),
  })
  .meta({ id: 'InvoiceUrls', description: 'Pages around the invoice.' })

/** The public invoice of specification §2: every field is always present, and there are no others. */
export const invoiceResource = z
  .strictObject({
    id: z.uuid().describe('Unique.'),
    object: z.literal('invoice'),
    number: z
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .describe('Counts up per workspace and mode; gaps are possible.'),
    status: z.enum(INVOICE_STATUSES).describe('State of the invoice.'),
    livemode: z.boolean().describe('False for test invoices.'),
    description: freeText(500).nullable().describe('Text for the payer.'),
    order_id: freeText(120).nullable().describe("The merchant's own reference."),
    metadata: metadataResource,
    amount: moneyResource.describe('Price in fiat.'),
    crypto: crypto.nullable().describe('What to pay on-chain; null until an asset is locked.'),
    rate: rate.nullable().describe('Locked rate; null until an asset is locked.'),
    received,
    flags,
    customer,
    urls,
    payment_link_id: z.uuid().nullable().describe('The payment link that created it.'),
    product_id: z.uuid().nullable().describe('The product of that payment link.'),
    source: z.enum(['link', 'api', 'manual', 'billing']).describe('Source: `api` for invoices created with a key.'),
    created_at: timestamp.describe('When it was created.'),
    expires_at: timestamp.describe('The invoice expires if the full amount has not arrived by then.'),
    paid_at: timestamp.nullable().describe('When the full amount was confirmed.'),
    updated_at: timestamp.describe('When it last changed.'),
  })
  .meta({ id: 'Invoice', description: 'A fiat price, paid on-chain in a crypto asset.' })
export type InvoiceResource = z.infer<typeof invoiceResource>
