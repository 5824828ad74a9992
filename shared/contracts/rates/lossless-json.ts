/** A whole string literal, or a bare number outside of one. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Parses JSON with every number kept as the text it was written in (`71278.10` → `"71278.10"`), so that no price ever
 * passes through a float. Throws `SyntaxError` on anything that is not JSON.
 */
export function parseLosslessJson(text: string): unknown {
  return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)))
}
