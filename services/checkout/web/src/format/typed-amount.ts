import type { LinkView } from '#shared/contracts/checkout/invoice-view.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import { FIAT_EXPONENT, formatFiat, parseFiat } from '#shared/domain/money/money.ts'
import { readTypedNumber, type TypedFault } from '#shared/domain/money/typed-number.ts'
import type { Speech } from '../locales/speech.ts'
import { fiatText } from './format-values.ts'

/** An amount entered into a money field. */
export type TypedAmount =
  | { readonly kind: TypedFault | 'low' | 'high' }
  /** Plain decimal text with exactly the currency's decimals. */
  | { readonly kind: 'amount'; readonly value: string }

/** Bounds as plain decimal text; null = none. */
interface Bounds {
  readonly min: string | null
  readonly max: string | null
}

/** Reads what was typed as an amount of the currency within the bounds. */
export function readTypedAmount(text: string, currency: FiatCode, { min, max }: Bounds): TypedAmount {
  const read = readTypedNumber(text, FIAT_EXPONENT[currency])
  if ('fault' in read) return { kind: read.fault }
  const minor = parseFiat(read.value, currency)
  if (min !== null && minor < parseFiat(min, currency)) return { kind: 'low' }
  if (max !== null && minor > parseFiat(max, currency)) return { kind: 'high' }
  return { kind: 'amount', value: formatFiat(minor, currency) }
}

type LinkTerms = Pick<LinkView, 'amount' | 'currency'>

/** The bounds of a link's amount in a sentence; empty without any. */
export function boundsText({ say, locale }: Speech, { amount, currency }: LinkTerms): string {
  if (amount.kind === 'fixed') return ''
  const text = (value: string) => fiatText({ value, currency }, locale(currency))
  const { min, max } = amount
  if (min !== null && max !== null) return say('amount.range', { a: text(min), b: text(max) })
  if (min !== null) return say('amount.least', { a: text(min) })
  return max === null ? '' : say('amount.most', { a: text(max) })
}

/** What is wrong with this text; empty for an amount. */
export function amountFault(speech: Speech, { kind }: TypedAmount, link: LinkTerms): string {
  if (kind === 'amount') return ''
  const x = FIAT_EXPONENT[link.currency]
  return speech.say(kind === 'decimals' && x === 0 ? 'amount.whole' : `amount.${kind}`, {
    a: boundsText(speech, link),
    x,
  })
}
