import { trimmedText } from '#shared/contracts/bounded-text.ts'
import { isStorable } from './text.ts'

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
export const customerEmail = trimmedText(LENGTH_MAX, FORM)
  .regex(ADDRESS, FORM)
  .refine(isStorable, 'must not contain NUL or broken Unicode')
