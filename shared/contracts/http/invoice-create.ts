import { z } from 'zod'
import { boundedText, optionalField, trimmedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS, FIAT_CODES, type Mode } from '#shared/domain/enumerations.ts'
import { INVOICE_LIFE_MAX_MS } from '#shared/domain/invoice/quote-window.ts'
import { AMOUNT_RULE, fiatAmount, readFiatAmount, validateAmount } from './amount.ts'
import { metadataBody } from './metadata.ts'
import { readPlainUrl } from './plain-url.ts'
import { isStorable, text } from './text.ts'

/** What the document says about return URLs beyond their form. */
const RETURN_URL_RULE =
  'An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` ' +
  'or a loopback address.'

/** Names that RFC 6761 and RFC 2606 reserve for this machine and for tests, and the addresses of the loopback interface. */
const LOCAL_HOST =
  /^(?:(?:[a-z0-9_-]+\.)*localhost|(?:[a-z0-9_-]+\.)+test|127\.[0-9.]+|\[::1\]|\[::ffff:7f[0-9a-f:]+\])$/

/**
 * Where the payer goes after the checkout: https, or http on a developer's own machine with a test key. Without credentials. We never
 * fetch it: it is only a link for the browser of the payer.
 */
export function returnUrl(mode: Mode) {
  return text(2_048)
    .meta({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$' })
    .superRefine((value, context) => {
      const fault = faultOf(value, mode)
      if (fault !== null) context.addIssue({ code: 'custom', message: fault, input: value })
    })
}

function faultOf(text: string, mode: Mode): string | null {
  const { url, fault } = readPlainUrl(text)
  if (url === null) return fault
  const local = url.protocol === 'http:' && mode === 'test' && LOCAL_HOST.test(url.hostname)
  if (url.protocol !== 'https:' && !local) return refusal(mode)
  return url.username !== '' || url.password !== '' ? 'must not carry credentials' : null
}

function refusal(mode: Mode): string {
  return mode === 'test'
    ? 'must be an https URL, or http on this machine: localhost, *.localhost, *.test or a loopback address'
    : 'must be an https URL: http on your own machine works with test keys only'
}

/** RFC 5321 §4.5.3.1: a path of 256 characters minus its brackets. */
const LENGTH_MAX = 254
const FORM = 'must be one email address, like "name@shop.example"'

/**
 * One address with anything that browsers take in `<input type=email>` (HTML, "valid e-mail address") on both sides, and letters of every
 * script (RFC 6531). Without white space, brackets, quotes and separators, so that it is never two addresses or a name with an address.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
const ADDRESS = /^[^\x00-\x20\x7f@<>()\x5b\x5d,;:\x5c\x22]+@[^\x00-\x20\x7f@<>()\x5b\x5d,;:\x5c\x22]+$/

/**
 * The payer's e-mail address: a note for the merchant, so whatever a shop's own form has accepted passes. White space around it is
 * dropped, as browsers do.
 */
const customerEmail = trimmedText(LENGTH_MAX, FORM)
  .regex(ADDRESS, FORM)
  .refine(isStorable, 'must not contain NUL or broken Unicode')

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
