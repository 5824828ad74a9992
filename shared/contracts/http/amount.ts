import { boundedText } from '#shared/contracts/bounded-text.ts'
import type { ErrorDetail } from '#shared/contracts/errors.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import { FIAT_EXPONENT, parseFiat } from '#shared/domain/money/fiat.ts'

/** Plain decimals only: no sign, exponent, grouping or leading zero; at most 12 integer digits. */
const DECIMAL = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,18}))?$/

/** Twelve digits, a point and 18 more. */
const LENGTH_MAX = 31
const FORM = 'must be a plain decimal string with at most 12 integer digits, like "10.50"'

/**
 * A fiat amount in requests. Accepts any string of its length: `readFiatAmount` checks it together with its currency, so that the
 * fault is specific.
 */
export const fiatAmount = boundedText(LENGTH_MAX, FORM).meta({ pattern: DECIMAL.source })

/**
 * Reads a fiat amount as minor units: greater than zero, at most the currency's ISO 4217 exponent of decimals.
 * Otherwise returns the fault with its path.
 */
export function readFiatAmount(
  value: string,
  currency: FiatCode,
  path: string,
): { readonly ok: true; readonly minor: bigint } | { readonly ok: false; readonly detail: ErrorDetail } {
  const match = value.length <= LENGTH_MAX ? DECIMAL.exec(value) : null
  if (!match) return fault(path, FORM)
  const exponent = FIAT_EXPONENT[currency]
  if ((match[2]?.length ?? 0) > exponent) return fault(path, `${currency} takes at most ${exponent} decimals`)
  const minor = parseFiat(value, currency)
  return minor > 0n ? { ok: true, minor } : fault(path, 'must be greater than zero')
}

function fault(path: string, message: string): { readonly ok: false; readonly detail: ErrorDetail } {
  return { ok: false, detail: { path, message } }
}
