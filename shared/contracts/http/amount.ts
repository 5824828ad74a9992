import type { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import type { ErrorDetail } from '#shared/contracts/errors.ts'
import { FIAT_CODES, type FiatCode } from '#shared/domain/enumerations.ts'
import { FIAT_EXPONENT, parseFiat } from '#shared/domain/money/money.ts'

/** Plain decimals only: no sign, exponent, grouping or leading zero; at most 12 integer digits. */
const DECIMAL = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,18}))?$/
/** The same for the document, where a pattern also states that zero is refused. */
const POSITIVE_DECIMAL = '^([1-9][0-9]{0,11}(\\.[0-9]{1,18})?|0\\.0{0,17}[1-9][0-9]{0,17})$'

/** What the document says about every amount, because the pattern does not see the currency. */
export const AMOUNT_RULE =
  'Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.'

/** Twelve digits, a point and 18 more. */
const LENGTH_MAX = 31
const FORM = 'must be a plain decimal string with at most 12 integer digits, like "10.50"'

/**
 * A fiat amount in requests. Accepts any string of its length: `readFiatAmount` checks it together with its currency, so that the
 * fault is specific.
 */
export const fiatAmount = boundedText(LENGTH_MAX, FORM).meta({ pattern: POSITIVE_DECIMAL })

/**
 * Reads a fiat amount as minor units: greater than zero, at most the currency's ISO 4217 exponent of decimals. Zeros behind those lose
 * nothing and do not count: shops with two decimals configured send `1000.00` for a currency without any. Otherwise returns the fault with its path.
 */
export function readFiatAmount(
  value: string,
  currency: FiatCode,
  path: string,
): { readonly ok: true; readonly minor: bigint } | { readonly ok: false; readonly detail: ErrorDetail } {
  const match = value.length <= LENGTH_MAX ? DECIMAL.exec(value) : null
  if (!match) return fault(path, FORM)
  const exponent = FIAT_EXPONENT[currency]
  const [, whole = '', decimals = ''] = match
  if (/[1-9]/.test(decimals.slice(exponent))) return fault(path, decimalsFault(currency, exponent))
  const counted = decimals.slice(0, exponent)
  const minor = parseFiat(counted === '' ? whole : `${whole}.${counted}`, currency)
  return minor > 0n ? { ok: true, minor } : fault(path, 'must be greater than zero')
}

function decimalsFault(currency: FiatCode, exponent: number): string {
  return exponent === 0
    ? `must be a whole number: ${currency} has no decimals`
    : `must have at most ${exponent} decimals: ${currency} has no smaller unit`
}

function fault(path: string, message: string): { readonly ok: false; readonly detail: ErrorDetail } {
  return { ok: false, detail: { path, message } }
}

type Body = Readonly<Record<string, unknown>>
type Context = Pick<z.core.$RefinementCtx, 'addIssue'>

/**
 * Arguments for `superRefine` on a body with a `currency`: checks the amount in `field` even when other fields are faulty,
 * so that one response names all of them. With an unknown currency only its form is checked.
 */
export function validateAmount(field: string) {
  const evaluate = (body: Body, context: Context): void => {
    const amount = body[field]
    if (typeof amount !== 'string') return
    const currency = FIAT_CODES.find((code) => code === body['currency'])
    const read = readFiatAmount(amount, currency ?? 'USD', field)
    if (read.ok) return
    const message =
      currency === undefined ? 'must be a plain decimal string above zero, like "10.50"' : read.detail.message
    context.addIssue({ code: 'custom', path: [field], message, input: amount })
  }
  return [evaluate, { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null }] as const
}
