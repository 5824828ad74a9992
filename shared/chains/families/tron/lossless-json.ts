/**
 * A string literal, to the end of the text if nothing closes it, or an integer of 16 and more digits that is not part of another number. Strings come first, so that
 * digits inside them are never read. They are matched in runs: one character at a time overflows the stack at 8 million.
 */
const STRING_OR_LONG_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"?|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs

/**
 * Parses JSON and returns integers of 16 and more digits as strings of their digits: a JavaScript number would round those
 * beyond 2^53, and TRON's amounts go up to 2^63. Throws `SyntaxError` on invalid JSON.
 */
export function parseLosslessJson(text: string): unknown {
  return JSON.parse(text.replace(STRING_OR_LONG_INTEGER, (found) => (found.startsWith('"') ? found : `"${found}"`)))
}
