import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS, FIAT_CODES, type Mode } from '#shared/domain/enumerations.ts'
import { INVOICE_LIFE_MAX_MS } from '#shared/domain/invoice/quote-window.ts'
import { AMOUNT_RULE, fiatAmount, readFiatAmount } from './amount.ts'
import { customerEmail } from './customer-email.ts'
import { metadataBody } from './metadata.ts'
import { optionalField } from './optional-field.ts'
import { RETURN_URL_RULE, returnUrl } from './return-url.ts'
import { text } from './text.ts'
import { validateAmount } from './validate-amount.ts'

/** Well-formed asset ids; the use case checks whether the asset exists (`UNSUPPORTED_ASSET`). */
const ASSET_FORM = /^[a-z0-9]{2,10}_[a-z0-9]{2,12}$/

function bodyOf(mode: Mode) {
  return z
    .strictObject({
      amount: fiatAmount.describe(`Price. ${AMOUNT_RULE}`),
      currency: z.enum(FIAT_CODES).describe('ISO 4217 code.'),
      description: optionalField(text(500).describe('Text for the payer.')),
      order_id: optionalField(text(120).describe('Your own reference. It need not be unique.')),
      asset: optionalField(
        boundedText(23, 'must be an asset id like "usdt_ethereum"')
          .regex(ASSET_FORM, 'must be an asset id like "usdt_ethereum"')
          .meta({
            description: 'Locks this asset at creation: the response already carries address and exact amount.',
            enum: ASSET_IDS,
          }),
      ),
      metadata: optionalField(metadataBody),
      customer: optionalField(
        z
          .strictObject({
            email: optionalField(customerEmail.describe('Email address of the payer, as browsers accept it.')),
            name: optionalField(text(200).describe('Name of the payer.')),
          })
          .meta({ id: `InvoiceCreateCustomer${mode === 'live' ? '' : 'Test'}`, description: 'The payer, if known.' }),
      ),
      success_url: optionalField(
        returnUrl(mode).describe(`Where the checkout links to after payment. ${RETURN_URL_RULE}`),
      ),
      cancel_url: optionalField(
        returnUrl(mode).describe(`Where the checkout links to when the payer cancels. ${RETURN_URL_RULE}`),
      ),
      expires_in: optionalField(
        z
          .int()
          .min(300)
          .max(INVOICE_LIFE_MAX_MS / 1_000)
          .describe(
            'Seconds until the invoice expires. Without it, a setting of the workspace decides: one for invoices with ' +
              '`asset`, one for those without. **Price risk:** together with `asset` it locks the price for this whole time. Above ' +
              '86400 (24 hours) a coin can lose much of its value before it is paid, and the loss is yours; leave `asset` out, so that the ' +
              'payer gets a price that lasts for minutes and is renewed.',
          ),
      ),
    })
    .superRefine(...validateAmount('amount'))
    .meta({ id: `InvoiceCreate${mode === 'live' ? '' : 'Test'}`, description: 'Parameters of an invoice.' })
    .transform((body, context) => {
      const amount = readFiatAmount(body.amount, body.currency, 'amount')
      if (!amount.ok) {
        context.addIssue({ code: 'custom', path: ['amount'], message: amount.detail.message, input: body.amount })
        return { ...body, minor: 0n }
      }
      return { ...body, minor: amount.minor }
    })
}

/** Body of `POST /invoices` by key mode; `minor` is the amount in minor units of the currency. */
export const invoiceCreateBody = { live: bodyOf('live'), test: bodyOf('test') } as const
export type InvoiceCreateBody = z.output<(typeof invoiceCreateBody)['live']>
