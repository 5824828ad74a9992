import { FIAT_CODES, type FiatCode } from '#shared/domain/enumerations.ts'
import { formatFiat } from '#shared/domain/money/fiat.ts'

const WORDS_MAX = 8
const WORD_LENGTH_MAX = 32

/** The words of a name as they are searched: without case, accents and punctuation; at most eight, of 32 characters each. */
export function nameWords(name: string): readonly string[] {
  const folded = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const words = folded.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  return [...new Set(words)].slice(0, WORDS_MAX).map((word) => word.slice(0, WORD_LENGTH_MAX))
}

/** An amount as it is searched; no word of a name begins like it. */
export const amountWord = (amount: string): string => `=${amount}`

/** True for what names a person, which is erased with the customer. */
export const isOfCustomer = (word: string): boolean => !word.startsWith('=')

/** What an invoice is found by besides its own columns: the words of its customer's name, and its amount. */
export function searchWordsOf(invoice: {
  readonly customer: { readonly name: string | null }
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
}): readonly string[] {
  const { customer, fiat } = invoice
  return [...nameWords(customer.name ?? ''), amountWord(formatFiat(fiat.minor, fiat.currency))]
}

/** What a text may mean besides an order's reference. */
export interface SearchText {
  /** Each begins a word of the name. */
  readonly words: readonly string[]
  /** The amount, spelled as each currency would, and the currency that was named; null when the text is no amount. */
  readonly amount: { readonly values: readonly string[]; readonly currency: FiatCode | null } | null
}

const AMOUNT = /^([A-Za-z]{3} )?(\d{1,3}(?:,\d{3})+|\d{1,12})(\.\d{1,2})?( [A-Za-z]{3})?$/

/** Reads a text as words of a name, and as an amount as pages show it: digits grouped or not, with the currency or without. */
export function readSearchText(text: string): SearchText {
  const words = nameWords(text)
  const [, before = '', digits, decimals = '', after = ''] = AMOUNT.exec(text.trim()) ?? []
  if (digits === undefined) return { words, amount: null }
  const code = `${before}${after}`.trim().toUpperCase()
  const currency = FIAT_CODES.find((known) => known === code) ?? null
  if (code !== '' && currency === null) return { words, amount: null }
  const whole = digits.replaceAll(',', '').replace(/^0+(?=\d)/, '')
  const values = decimals === '' ? [whole, `${whole}.00`] : [`${whole}${decimals.padEnd(3, '0')}`]
  return { words, amount: { values, currency } }
}
