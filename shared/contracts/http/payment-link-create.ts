import { z } from 'zod'
import type { ErrorDetail } from '#shared/contracts/errors.ts'
import { FIAT_CODES, type FiatCode } from '#shared/domain/enumerations.ts'
import { optionalField } from '../bounded-text.ts'
import { AMOUNT_RULE, fiatAmount, readFiatAmount } from './amount.ts'
import { text } from './text.ts'
import { visibleText } from './visible-text.ts'

const fields = z
  .strictObject({
    product_id: optionalField(
      z
        .guid('must be a UUID')
        .toLowerCase()
        .describe('Copies title, price and currency of this product; leave those out then.'),
    ),
    title: optionalField(visibleText(200).describe('Shown to payers. Required without `product_id`.')),
    description: optionalField(text(500).describe('Further description.')),
    currency: optionalField(z.enum(FIAT_CODES).describe('ISO 4217 code. Required without `product_id`.')),
    amount: optionalField(
      fiatAmount.describe(
        `Fixed amount. Without \`product_id\`, either this or \`allow_custom_amount\`, never both. ${AMOUNT_RULE}`,
      ),
    ),
    allow_custom_amount: optionalField(z.boolean().describe('Lets the payer choose the amount.')),
    min_amount: optionalField(
      fiatAmount.describe(
        `Minimum that a payer can choose, at most \`max_amount\`; only with \`allow_custom_amount\`. ${AMOUNT_RULE}`,
      ),
    ),
    max_amount: optionalField(
      fiatAmount
        .describe(`Maximum that a payer can choose; only with \`allow_custom_amount\`. ${AMOUNT_RULE}`)
        .meta({ examples: ['500.00'] }),
    ),
  })
  .meta({
    id: 'PaymentLinkCreate',
    description: 'Parameters of a payment link: a copy of a product, or its own terms.',
  })
type Fields = z.output<typeof fields>

/** A validated request for a link: a copy of a product, or separate terms. Amounts are minor units of the currency. */
export type PaymentLinkBody =
  | { readonly kind: 'product'; readonly productId: string; readonly description: string | null }
  | {
      readonly kind: 'own'
      readonly title: string
      readonly description: string | null
      readonly currency: FiatCode
      readonly amount:
        | { readonly kind: 'fixed'; readonly minor: bigint }
        | { readonly kind: 'custom'; readonly minMinor: bigint | null; readonly maxMinor: bigint | null }
    }

/** Body of `POST /payment-links`. Every contradictory field is listed in the fault. */
export const paymentLinkBody = fields.transform((body, context): PaymentLinkBody => {
  const faults: ErrorDetail[] = []
  const result = body.product_id === undefined ? readOwn(body, faults) : readCopy(body, body.product_id, faults)
  for (const { path, message } of faults) {
    context.addIssue({ code: 'custom', path: [path], message, input: body[path as keyof Fields] })
  }
  return result ?? z.NEVER
})

/** Fields set by a product; a separate value would be ignored, and an ignored price is a wrong price. */
const DECIDED_BY_PRODUCT = ['title', 'currency', 'amount', 'min_amount', 'max_amount'] as const

function readCopy(body: Fields, productId: string, faults: ErrorDetail[]): PaymentLinkBody {
  const given: string[] = DECIDED_BY_PRODUCT.filter((path) => body[path] !== undefined)
  if (body.allow_custom_amount === true) given.push('allow_custom_amount')
  faults.push(...given.map((path) => ({ path, message: 'must be left out with product_id, which sets it' })))
  return { kind: 'product', productId, description: body.description ?? null }
}

function readOwn(body: Fields, faults: ErrorDetail[]): PaymentLinkBody | null {
  const { title, currency } = body
  if (title === undefined) faults.push({ path: 'title', message: 'is required without product_id' })
  if (currency === undefined) faults.push({ path: 'currency', message: 'is required without product_id' })
  const custom = body.allow_custom_amount === true
  const amount = custom ? readCustom(body, currency, faults) : readFixed(body, currency, faults)
  if (title === undefined || currency === undefined || amount === null) return null
  return { kind: 'own', title, description: body.description ?? null, currency, amount }
}

type OwnAmount = Extract<PaymentLinkBody, { kind: 'own' }>['amount']

function readFixed(body: Fields, currency: FiatCode | undefined, faults: ErrorDetail[]): OwnAmount | null {
  for (const path of ['min_amount', 'max_amount'] as const) {
    if (body[path] !== undefined) faults.push({ path, message: 'is allowed only when allow_custom_amount is true' })
  }
  if (body.amount === undefined) {
    faults.push({ path: 'amount', message: 'is required unless allow_custom_amount is true' })
  }
  const minor = readMinor(body, 'amount', currency, faults)
  return minor === null ? null : { kind: 'fixed', minor }
}

function readCustom(body: Fields, currency: FiatCode | undefined, faults: ErrorDetail[]): OwnAmount {
  if (body.amount !== undefined) {
    faults.push({ path: 'amount', message: 'must be left out when allow_custom_amount is true' })
    faults.push({ path: 'allow_custom_amount', message: 'must be false or left out when amount is given' })
  }
  const minMinor = readMinor(body, 'min_amount', currency, faults)
  const maxMinor = readMinor(body, 'max_amount', currency, faults)
  if (minMinor !== null && maxMinor !== null && minMinor > maxMinor) {
    faults.push({ path: 'min_amount', message: 'must not be greater than max_amount' })
    faults.push({ path: 'max_amount', message: 'must not be less than min_amount' })
  }
  return { kind: 'custom', minMinor, maxMinor }
}

/** Null when absent, faulty, or unreadable without a currency, which then has its own fault. */
function readMinor(
  body: Fields,
  path: 'amount' | 'min_amount' | 'max_amount',
  currency: FiatCode | undefined,
  faults: ErrorDetail[],
): bigint | null {
  const value = body[path]
  if (value === undefined || currency === undefined) return null
  const read = readFiatAmount(value, currency, path)
  if (read.ok) return read.minor
  faults.push(read.detail)
  return null
}
