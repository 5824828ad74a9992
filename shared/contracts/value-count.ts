/**
 * Most values that the JSON of somebody else's response may have. Nobody sends that many for real: the largest block of Solana that was seen had
 * half a million in 9 MB. Without the bound 64 MB hold thirty million empty lists, which take minutes to parse and validate.
 */
export const VALUES_MAX = 2 ** 20

const [OPENS_LIST, OPENS_OBJECT, COMMA] = [...Buffer.from('[{,')]

/** At least as many values as a part of a JSON text begins, one less for the whole; commas inside of strings count as well. */
export function countValues(part: Uint8Array): number {
  let values = 0
  for (const byte of part) if (byte === COMMA || byte === OPENS_OBJECT || byte === OPENS_LIST) values += 1
  return values
}
