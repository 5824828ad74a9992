/** What explorers, and our own pages, name in an address: hashes, Solana signatures, ids, and addresses of every network. */
const NAMES = [
  /^(0x)?[0-9a-f]{64}$/i,
  /^[1-9A-HJ-NP-Za-km-z]{80,90}$/,
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^0x[0-9a-f]{40}$/i,
  /^[a-z]{2,5}1[02-9ac-hj-np-z]{20,90}$/i,
  /^[1-9A-HJ-NP-Za-km-z]{25,44}$/,
]
const LENGTH_MAX = 500

/**
 * What a person means by a pasted text: of an explorer's address, or of one of our pages, the hash, id or address that it names; any other text
 * as it is, without the space around it.
 */
export function readPasted(text: string): string {
  const given = text.trim()
  if (given.length > LENGTH_MAX || !/^https?:\/\//i.test(given)) return given
  const parts = given.slice(given.indexOf('//') + 2).split(/[/?&=#:]/)
  // The host is no name, though it may look like one.
  const [, ...rest] = parts
  for (const form of NAMES) {
    const found = rest.find((part) => form.test(part))
    if (found !== undefined) return found
  }
  return given
}
