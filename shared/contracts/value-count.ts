/**
 * Most values that the JSON of somebody else's response may have. Nobody sends that many for real: the largest block of Solana that was seen had
 * half a million in 9 MB. Without the bound 64 MB hold thirty million empty lists, which take minutes to parse and validate.
 */
export const VALUES_MAX = 2 ** 20

const [OPENS_LIST, OPENS_OBJECT, COMMA] = [...Buffer.from('[{,')]

/** At least as many values as a part of a JSON text begins, one less for the whole; commas inside of strings count as well. */
export function countValues(part: Uint8Array): number {
  let values = 0
  // An iterator over bytes takes six times as long, and four times as long as parsing the text.
  for (let at = 0; at < part.length; at += 1) {
    const byte = part[at]
    if (byte === COMMA || byte === OPENS_OBJECT || byte === OPENS_LIST) values += 1
  }
  return values
}

/**
 * Most characters of a name in the JSON of somebody else's response. V8 gives every longer name of one length the same hash
 * (`String::kMaxHashCalcLength`), so that 60 MB of them took 20 s to parse (Node 24.22).
 */
export const NAME_MAX = 16_383

/** Length from which a text can have so many long names that they take long. */
const MANY_NAMES = 2 ** 22

const COLON = /\s*:/y

/** Whether a JSON text of more than 4 MB has a name longer than `NAME_MAX`. Pure; takes about as long as finding its strings. */
export function hasLongName(text: string): boolean {
  if (text.length <= MANY_NAMES) return false
  for (let opens = text.indexOf('"'); opens !== -1; ) {
    const closes = endOfString(text, opens)
    if (closes === -1) return false
    COLON.lastIndex = closes + 1
    if (closes - opens > NAME_MAX && COLON.test(text)) return true
    opens = text.indexOf('"', closes + 1)
  }
  return false
}

/** Place of the quotation mark that closes the string opened at `opens`; -1 when nothing closes it. */
function endOfString(text: string, opens: number): number {
  for (let at = text.indexOf('"', opens + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at
  }
  return -1
}
