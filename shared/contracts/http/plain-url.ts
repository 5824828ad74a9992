/**
 * White space and control characters. URL parsers drop or encode them silently, so that the stored text would differ
 * from the address that is called or opened.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused.
const UNPLAIN = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff]/

/** The parsed absolute URL; null for anything else and for texts that a parser would have to repair first. */
export function parsePlainUrl(text: string): URL | null {
  return !UNPLAIN.test(text) && URL.canParse(text) ? new URL(text) : null
}
