/** What is wrong with a typed number. `grouped`: with separators of thousands, or of what may be one; `huge`: more digits than any amount has. */
export const TYPED_FAULTS = ['empty', 'text', 'negative', 'grouped', 'decimals', 'huge', 'zero'] as const
export type TypedFault = (typeof TYPED_FAULTS)[number]

/** A typed number as a plain decimal without leading zeros, or what is wrong with it. */
export type TypedNumber = { readonly value: string } | { readonly fault: TypedFault }

const WHOLE_DIGITS_MAX = 12
/** Every sign that separates thousands somewhere, white space included (CLDR 48, `group`). */
const SEPARATORS = /[.,'’٬\s]/

/**
 * Reads one number above zero with at most one separator, dot or comma, and at most `decimalsMax` decimals. Never guesses: `1.250` is twelve
 * hundred and fifty for one reader and one and a quarter for another, so it is refused as grouped wherever it may be either.
 */
export function readTypedNumber(typed: string, decimalsMax: number): TypedNumber {
  const text = typed.trim()
  if (text === '') return { fault: 'empty' }
  if (/^[-−–][\d.,'’\s]*$/.test(text)) return { fault: 'negative' }
  const parts = text.split(SEPARATORS)
  if (!parts.every((part) => /^\d+$/.test(part))) return { fault: 'text' }
  const [whole = '', decimals = '', ...more] = parts
  const isGroup = decimals.length === 3 && whole.length <= 3 && !/^0/.test(whole)
  const isOneNumber = /^\d+(?:[.,]\d+)?$/.test(text) && more.length === 0
  if (!isOneNumber || (isGroup && (decimalsMax < 3 || text.includes(',')))) return { fault: 'grouped' }
  if (decimals.length > decimalsMax) return { fault: 'decimals' }
  if (whole.replace(/^0+/, '').length > WHOLE_DIGITS_MAX) return { fault: 'huge' }
  if (/^0*$/.test(whole + decimals)) return { fault: 'zero' }
  const plain = whole.replace(/^0+(?=\d)/, '')
  return { value: decimals === '' ? plain : `${plain}.${decimals}` }
}
