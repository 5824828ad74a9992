const EXPOSED = 'Paymesh accepts public keys only. Treat this key as exposed and move its funds.'

/** The error messages for private keys, one for each form; none repeats any part of the key. */
export const PRIVATE_KEY_NAMES = {
  extended: (name: string) => `This is an extended private key (${name}). ${EXPOSED}`,
  hex: `This is a raw private key or seed in hex (32 or 64 bytes). ${EXPOSED}`,
  wif: `This is a private key in wallet import format (WIF). ${EXPOSED}`,
  encrypted: `This is an encrypted private key (BIP 38). ${EXPOSED}`,
  phrase: `This is a recovery phrase, which is a private key. ${EXPOSED}`,
  solana: `This is a Solana private key (64 bytes). ${EXPOSED}`,
  keystore: `This is a keystore or key file that contains a private key. ${EXPOSED}`,
} as const

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^(0x)?([0-9a-fA-F]{64}|[0-9a-fA-F]{128})$/, PRIVATE_KEY_NAMES.hex],
  [/^6P[1-9A-HJ-NP-Za-km-z]{56}$/, PRIVATE_KEY_NAMES.encrypted],
  [/^[59KLcTQ6][1-9A-HJ-NP-Za-km-z]{50,51}$/, PRIVATE_KEY_NAMES.wif],
  [/^[1-9A-HJ-NP-Za-km-z]{86,88}$/, PRIVATE_KEY_NAMES.solana],
  [/^\[\s*\d{1,3}(\s*,\s*\d{1,3}){31,}\s*\]$/, PRIVATE_KEY_NAMES.solana],
  [/^\{[\s\S]*(crypto|cipher|private|secret)/i, PRIVATE_KEY_NAMES.keystore],
]

/**
 * The error message for a text that is a private key in any form a wallet exports, well-formed or with a typing error; null
 * for any other text. Called before any other check that could fail on the text.
 */
export function privateForm(text: string): string | null {
  const found = FORMS.find(([pattern]) => pattern.test(text))
  if (found !== undefined) return found[1]
  const extended = /^([a-zA-Z]{1,2}p(rv|v))[1-9A-HJ-NP-Za-km-z]{40,}/.exec(text)?.[1]
  if (extended !== undefined) return PRIVATE_KEY_NAMES.extended(extended)
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  return words.length >= 12 && words.every((word) => /^\p{L}{2,10}$/u.test(word)) ? PRIVATE_KEY_NAMES.phrase : null
}
