/** A string literal, to the end of the text if nothing closes it, or a bare number outside one. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/**
 * Parses JSON with every number kept as its text (`71278.10` → `"71278.10"`), so that no price
 * passes through a float. Throws `SyntaxError` on anything that is not JSON.
 */
export function parseLosslessJson(text: string): unknown {
  return JSON.parse(quoteNumbers(text))
}

/** The same text with every number outside a string literal in quotes. */
export function quoteNumbers(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`))
}
