/** A signature for a challenge, and its address; '' where only one address is required. */
export interface GivenSignature {
  readonly address: string
  readonly signature: string
}

/** As many lines as a pool may have addresses. */
export const SIGNATURES_MAX = 10_000

/**
 * Parses a file with a line `address,signature` for each address; a semicolon or tab is also a separator, quotes around a value
 * and a heading `address,signature` are ignored. Null when a line has another form or there are too many.
 */
export function readSignatureList(text: string): readonly GivenSignature[] | null {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const rows = lines[0] !== undefined && /^"?address"?[,;\t]/i.test(lines[0]) ? lines.slice(1) : lines
  if (rows.length === 0 || rows.length > SIGNATURES_MAX) return null
  const read = rows.map((line) => {
    const [address = '', signature = '', ...rest] = line
      .split(/[,;\t]/)
      .map((cell) => cell.trim().replace(/^"|"$/g, ''))
    return rest.length === 0 && address !== '' && signature !== '' ? { address, signature } : null
  })
  return read.every((row) => row !== null) ? read : null
}
