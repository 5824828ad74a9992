import { z } from 'zod'
import { STORED_TEXT } from './wire-types.ts'

// Lone surrogates would be replaced on their way through the store, and NUL ends strings in places we do not control.
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is exactly what is refused.
const UNSTORABLE = /[\u0000\p{Surrogate}]/u

/** True for text that is stored and printed back exactly as it came. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text)
}

/** A text of a body or query, 1 … `max` UTF-16 units, that survives storage unchanged. */
export function text(max: number) {
  const storable = z.string().min(1).max(max).refine(isStorable, 'must not contain NUL or broken Unicode')
  return storable.meta({ pattern: STORED_TEXT })
}
