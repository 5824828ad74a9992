import { z } from 'zod'
import { FIAT_CODES, type Mode } from '#shared/domain/enumerations.ts'
import { readFiatAmount } from './amount.ts'
import { metadataBody } from './metadata.ts'
import { returnUrl } from './return-url.ts'
import { text } from './text.ts'

/** Well-formed asset ids; whether the asset exists is the use case's question (`UNSUPPORTED_ASSET`). */
const ASSET_FORM = /^[a-z0-9]{2,10}_[a-z0-9]{2,12}$/

function bodyOf(mode: Mode) {
  return z
    .strictObject({
      amount: z.string(),
      currency: z.enum(FIAT_CODES),
      description: text(500).optional(),
      order_id: text(120).optional(),
      asset: z.string().regex(ASSET_FORM, 'must be an asset id like "usdt_ethereum"').optional(),
      metadata: metadataBody.optional(),
      customer: z
        .strictObject({
          email: z.email('must be an e-mail address').max(254).optional(),
          name: text(200).optional(),
        })
        .optional(),
      success_url: returnUrl(mode).optional(),
      cancel_url: returnUrl(mode).optional(),
      /** Seconds. */
      expires_in: z.int().min(300).max(2_592_000).optional(),
    })
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
