import { boundedText } from '#shared/contracts/bounded-text.ts'
import { STORED_TEXT } from './wire-types.ts'

// The store would replace lone surrogates, and NUL ends strings in software outside our control.
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is exactly what is refused.
const UNSTORABLE = /[\u0000\p{Surrogate}]/u

/** True for text that is stored and returned unchanged. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text)
}

/** A text of a body or query, 1 … `max` code points, that is stored unchanged. */
export function text(max: number) {
  const storable = boundedText(max).min(1).refine(isStorable, 'must not contain NUL or broken Unicode')
  return storable.meta({ pattern: STORED_TEXT })
}

/** The text with `\ufffd` for each half of a pair that stands alone, which a cut leaves and many parsers of JSON refuse. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}
